/// A fixed number of secret bytes at one place in memory, overwritten when the last reference goes.
///
/// A class, because its bytes never move: a value that is moved leaves copies behind that nobody can wipe. It prints
/// and reflects as nothing but its type. Not thread-safe, and so not `Sendable`: a secret stays in the lane that read
/// it.
final class WipedBytes<let count: Int> {
    private var bytes = InlineArray<count, UInt8>(repeating: 0)

    init() {}

    deinit {
        wipe()
    }

    /// Overwrites the bytes with zeros.
    func wipe() {
        withMutableBytes { span in overwrite(&span) }
    }

    /// Lends the bytes where they lie.
    func withBytes<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try withMutableBytes { span throws(E) in try body(span.span) }
    }

    /// Lends the bytes where they lie, to be written.
    func withMutableBytes<R: ~Copyable, E: Error>(
        _ body: (inout MutableSpan<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        try Self.lend(&bytes, body)
    }

    private static func lend<R: ~Copyable, E: Error>(
        _ bytes: inout InlineArray<count, UInt8>,
        _ body: (inout MutableSpan<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        var span = bytes.mutableSpan
        return try body(&span)
    }
}

extension WipedBytes: CustomStringConvertible, CustomReflectable {
    var description: String { "redacted" }

    var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// Writes zeros, also where nobody reads them again.
func overwrite(_ bytes: inout MutableSpan<UInt8>) {
    bytes.update(repeating: 0)
    keep(&bytes)
}

/// Stands for a reader: the optimiser may not look into this function, so it cannot leave out what comes before a call.
///
/// The loop itself must not be in here: without optimisation it took 200 ns a byte.
@inline(never)
@_optimize(none)
private func keep(_ bytes: inout MutableSpan<UInt8>) {}
