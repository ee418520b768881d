internal import Glibc

/// Results go to standard output, everything else to standard error.
enum Console {
    /// - Throws: ``BenchmarkError/unavailable(_:)`` when nobody reads.
    ///
    /// The corresponding C function is `write`.
    static func write(_ text: String) throws(BenchmarkError) {
        try write(Array(text.utf8), to: STDOUT_FILENO)
    }

    /// Tells a person what is going on.
    static func say(_ message: String) {
        try? write(Array("posthorn-bench: \(message)\n".utf8), to: STDERR_FILENO)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(BenchmarkError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw .unavailable("the output cannot be written (errno \(errno))") }
            rest = rest.dropFirst(count)
        }
    }
}
