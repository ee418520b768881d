internal import Glibc
internal import Push

/// Whether the PEM files that a gateway's entry names are there.
///
/// A missing file would show at the first delivery only, as a fault of the gateway, with notifications waiting behind it. So it is an error
/// when the entry is made; add gateways where the workers' files are. What is in the files is for the TLS library to say.
enum GatewayFiles {
    /// What is wrong, for the operator.
    static func faults(of entry: GatewayEntry) -> [String] {
        let files = [
            ("CA file", entry.caFile), ("client certificate", entry.clientCertificateFile),
            ("client key", entry.clientKeyFile),
        ]
        return files.compactMap { name, path in
            guard let path, let reason = problem(path) else { return nil }
            return "the \(name) \(path) \(reason)"
        }
    }

    /// The corresponding C functions are `open` and `fstat`.
    private static func problem(_ path: String) -> String? {
        // Workers run in folders of their own.
        guard path.utf8.first == UInt8(ascii: "/") else { return "is not an absolute path" }
        guard path.utf8.count <= 4096 else { return "is too long a path" }
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return unsafe "cannot be read: \(String(cString: strerror(errno)))" }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return "is not a regular file"
        }
        return status.st_size == 0 ? "is empty" : nil
    }
}
