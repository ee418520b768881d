import Glibc

/// Secret bytes at one place in memory, overwritten when their owner goes.
///
/// Cannot be copied, prints as nothing, and is lent only for the length of a closure.
@safe
package struct SecretBytes: ~Copyable {
    private let storage: UnsafeMutableBufferPointer<UInt8>

    /// Zeros, to be written with ``withMutableBytes(_:)``.
    package init(count: Int) {
        unsafe storage = .allocate(capacity: count)
        unsafe storage.initialize(repeating: 0)
    }

    package init(copying bytes: Span<UInt8>) {
        self.init(count: bytes.count)
        for index in 0..<bytes.count { unsafe storage[index] = bytes[index] }
    }

    deinit {
        unsafe Self.wipe(storage)
        unsafe storage.deallocate()
    }

    package var count: Int { unsafe storage.count }

    package borrowing func withBytes<R: ~Copyable, E: Error>(
        _ body: (Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        try unsafe body(UnsafeBufferPointer(storage).span)
    }

    package mutating func withMutableBytes<R: ~Copyable, E: Error>(
        _ body: (inout MutableSpan<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        var span = unsafe storage.mutableSpan
        return try body(&span)
    }

    /// Overwrites all of an array's bytes with zeros, so that nothing of them stays behind; its count stays.
    ///
    /// The array must be the only one with these bytes: shared memory would be copied first, and the copy wiped.
    package static func wipe(_ bytes: inout [UInt8]) {
        wipe(&bytes, from: 0)
    }

    /// The same from `start` on.
    static func wipe(_ bytes: inout [UInt8], from start: Int) {
        unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            unsafe wipe(bytes.extracting(min(start, bytes.count)...))
        }
    }

    /// Overwrites memory with zeros in a way that no optimiser removes.
    ///
    /// The corresponding C function is `explicit_bzero`.
    static func wipe(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
        guard let base = buffer.baseAddress else { return }
        unsafe explicit_bzero(base, buffer.count)
    }
}
