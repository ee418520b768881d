import Glibc

/// The file that holds the key-encryption keys.
///
/// Readable by its owner only, and refused otherwise: whoever can read it can open every chain of a stolen database.
package enum KeyFile {
    /// 64 KiB: some eight hundred keys.
    package static let maximumLength = 64 << 10

    /// Reads the keys.
    ///
    /// - Throws: ``SealingError/keyFile(path:_:)``.
    package static func read(_ path: String) throws(SealingError) -> KeyRing {
        do throws(KeyFileFault) {
            var content = try content(of: path)
            defer { content.wipe() }
            return try KeyRing(parsing: content.text.span)
        } catch {
            throw .keyFile(path: path, error)
        }
    }

    /// A key file's text, and to whom it belongs.
    struct Content {
        var text: [UInt8]
        let owner: uid_t
        let group: gid_t

        mutating func wipe() {
            SecretBytes.wipe(&text)
        }
    }

    /// Reads the file after having made sure, on the open file, that it is one to trust.
    static func content(of path: String) throws(KeyFileFault) -> Content {
        // Without O_NONBLOCK a pipe in the file's place would hold the process until somebody writes.
        let file = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw errno == ENOENT ? .missing : .system(operation: "open", code: errno) }
        defer { _ = Glibc.close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw .system(operation: "stat", code: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegularFile }
        guard status.st_uid == geteuid() || status.st_uid == 0 else { throw .foreignOwner }
        guard status.st_mode & 0o077 == 0 else { throw .openToOthers(mode: status.st_mode) }
        guard status.st_size <= maximumLength else { throw .tooLarge }
        return Content(text: try readAll(file), owner: status.st_uid, group: status.st_gid)
    }

    private static func readAll(_ file: Int32) throws(KeyFileFault) -> [UInt8] {
        // Made in its full size at once: growing would leave copies of keys behind.
        var text = [UInt8](repeating: 0, count: maximumLength + 1)
        var filled = 0
        while filled < text.count {
            let count = unsafe text.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(file, buffer.baseAddress.map { unsafe $0 + filled }, buffer.count - filled)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else {
                let code = errno
                SecretBytes.wipe(&text)
                throw .system(operation: "read", code: code)
            }
            if count == 0 { break }
            filled += count
        }
        guard filled <= maximumLength else {
            SecretBytes.wipe(&text)
            throw .tooLarge
        }
        // What lies behind the end is zeros.
        text.removeLast(text.count - filled)
        return text
    }
}
