internal import Sealing

/// Sealing alone: a frame of 1024 bytes under a new key each time, IV and Base64 included.
enum SealBenchmark {
    private static let frameLength = 1024
    /// Keys in a row, one behind the other; more than the processor's nearest cache would make dear what never is.
    private static let keys = 256
    private static let rounds = 300_000

    static func measure(_ assignment: Assignment) throws -> Measurement {
        var random = RandomSource()
        var keys: [UInt8] = []
        try random.append(Self.keys * Cipher.keyLength, to: &keys)
        let frame = [UInt8](repeating: 0x20, count: frameLength)
        var sealed: [UInt8] = []
        var text: [UInt8] = []
        var cipher = try Cipher()
        let meter = Meter()
        for round in 0..<rounds {
            let start = round % Self.keys * Cipher.keyLength
            try cipher.setKey(keys.span.extracting(start..<start + Cipher.keyLength))
            sealed.removeAll(keepingCapacity: true)
            try cipher.seal(frame.span, random: &random, into: &sealed)
            text.removeAll(keepingCapacity: true)
            Base64.encode(sealed.span, into: &text)
        }
        let stretch = meter.stop(at: rounds)
        guard text.count == Base64.encodedLength(frameLength + Cipher.overhead) else {
            throw BenchmarkError.stuck("seal")
        }
        return Measurement(stretch)
    }
}
