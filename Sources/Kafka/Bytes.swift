/// Bytes through C: `nil` is a null pointer, and empty is not.
///
/// Kafka tells a null key or value from an empty one, librdkafka does it by the pointer.
@inline(__always)
func withBytes<Result>(
    _ bytes: [UInt8]?,
    _ body: (_ base: UnsafeRawPointer?, _ count: Int) -> Result
) -> Result {
    guard let bytes else { return body(nil, 0) }
    return unsafe bytes.withUnsafeBytes { buffer in
        if let base = buffer.baseAddress { return unsafe body(base, buffer.count) }
        // An empty array may have no address; any address will do, since nothing is read.
        return unsafe withUnsafeBytes(of: UInt8(0)) { unsafe body($0.baseAddress, 0) }
    }
}

extension Duration {
    /// Whole milliseconds for C, rounded up so that a short wait is not turned into none; from 0 to `Int32.max`.
    var milliseconds: Int32 {
        if self <= .zero { return 0 }
        let (seconds, attoseconds) = components
        guard seconds < 2_000_000 else { return Int32.max }
        let (whole, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000_000_000)
        return Int32(clamping: seconds * 1000 + whole + (rest > 0 ? 1 : 0))
    }
}

/// A moment by which something must be done.
struct Deadline {
    private let instant: ContinuousClock.Instant

    init(in timeout: Duration) {
        instant = ContinuousClock.now + max(timeout, .zero)
    }

    var remaining: Duration { max(instant - ContinuousClock.now, .zero) }
    var hasPassed: Bool { ContinuousClock.now >= instant }
}
