import Copenssl
import Glibc
import Synchronization

/// Random bytes from OpenSSL's generator, drawn in blocks, because each draw locks and looks for a fork.
///
/// Bytes are given out once and wiped where they lay. A child of `fork` throws the rest of its block away, since
/// its parent has the same one: two messages under one IV would give both away. One lane's own.
///
/// The corresponding C function is `RAND_bytes`.
package struct RandomSource: ~Copyable {
    /// Measured: a draw of 4 KiB costs hardly more than one of 12 bytes.
    private static let blockLength = 4096

    private var block = SecretBytes(count: blockLength)
    private var position = blockLength
    private var forks = Forks.count

    package init() {}

    /// Appends `count` random bytes.
    ///
    /// - Throws: ``SealingError/library(operation:reason:)`` when the generator has no entropy; `output` is then as it was.
    package mutating func append(_ count: Int, to output: inout [UInt8]) throws(SealingError) {
        let before = output.count
        var missing = count
        while missing > 0 {
            let piece = min(missing, Self.blockLength)
            do throws(SealingError) {
                try makeAvailable(piece)
            } catch {
                output.removeLast(output.count - before)
                throw error
            }
            take(piece, &output)
            missing -= piece
        }
    }

    private mutating func take(_ count: Int, _ output: inout [UInt8]) {
        let start = position
        block.withMutableBytes { block in
            unsafe block.withUnsafeMutableBufferPointer { block in
                let piece = block.extracting(start..<start + count)
                unsafe output.append(contentsOf: piece)
                unsafe SecretBytes.wipe(piece)
            }
        }
        position += count
    }

    /// A new secret, from the generator that OpenSSL keeps for private keys.
    ///
    /// The corresponding C function is `RAND_priv_bytes`.
    package mutating func secret(count: Int) throws(SealingError) -> SecretBytes {
        var secret = SecretBytes(count: count)
        let answer = secret.withMutableBytes { bytes in
            unsafe bytes.withUnsafeMutableBufferPointer { bytes in
                unsafe RAND_priv_bytes(bytes.baseAddress, Int32(clamping: bytes.count))
            }
        }
        try Library.check(answer, "draw a secret")
        return secret
    }

    private mutating func makeAvailable(_ count: Int) throws(SealingError) {
        let forks = Forks.count
        guard forks != self.forks || position + count > Self.blockLength else { return }
        self.forks = forks
        position = Self.blockLength
        try block.withMutableBytes { block throws(SealingError) in try Self.draw(&block) }
        position = 0
    }

    private static func draw(_ target: inout MutableSpan<UInt8>) throws(SealingError) {
        let answer = unsafe target.withUnsafeMutableBufferPointer { target in
            unsafe RAND_bytes(target.baseAddress, Int32(clamping: target.count))
        }
        try Library.check(answer, "draw random bytes")
    }
}

/// How often this process has come out of a `fork`, counted by the C library's own hook: asking for the process id each
/// time would be a system call.
///
/// The corresponding C function is `pthread_atfork`.
private enum Forks {
    private static let counter = Atomic<Int>(0)

    private static let hook: Void = {
        _ = pthread_atfork(nil, nil, countOne)
    }()

    static var count: Int {
        hook
        return counter.load(ordering: .relaxed)
    }

    private static let countOne: @convention(c) () -> Void = {
        counter.add(1, ordering: .relaxed)
    }
}
