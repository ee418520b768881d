import Glibc

extension KeyFile {
    /// Adds a new random key, which becomes the active one; makes the file, readable by its owner only, if there is none.
    ///
    /// The old text stays as it is behind the new line. The file is replaced as a whole and on disk before this returns, so a crash leaves
    /// either the old one or the new one. Two at once take turns. A file that has a fault is not touched.
    ///
    /// - Parameters:
    ///   - path: the file; a symbolic link is followed and stays.
    ///   - id: the new key's name; default `k` and eight random hexadecimal digits.
    /// - Returns: the new key's id.
    /// - Throws: ``SealingError/keyFile(path:_:)``; `idTaken` when there is a key of that id.
    @discardableResult
    package static func generate(_ path: String, id: String? = nil) throws(SealingError) -> String {
        var random = RandomSource()
        let newID: String
        if let id {
            newID = id
        } else {
            var bytes: [UInt8] = []
            try random.append(4, to: &bytes)
            newID = "k" + Hex.text(bytes.span)
        }
        let key = try random.secret(count: Cipher.keyLength)
        do throws(KeyFileFault) {
            guard KeyLine.id(newID.utf8.span) != nil else { throw .malformedLine(1, .id) }
            try add(newID, key, to: resolved(path))
        } catch {
            throw .keyFile(path: path, error)
        }
        return newID
    }

    private static func add(_ id: String, _ key: borrowing SecretBytes, to path: String) throws(KeyFileFault)
    {
        let directory = try lockedDirectory(of: path)
        // Closing it lets the next one in.
        defer { _ = Glibc.close(directory) }
        var old = try existing(path)
        defer { old?.wipe() }
        var text: [UInt8] = []
        // In its full size at once: growing would leave copies of keys behind.
        text.reserveCapacity(id.utf8.count + 2 * key.count + 2 + (old?.text.count ?? 0))
        defer { SecretBytes.wipe(&text) }
        text.append(contentsOf: id.utf8)
        text.append(UInt8(ascii: " "))
        key.withBytes { key in Hex.encode(key, into: &text) }
        text.append(UInt8(ascii: "\n"))
        if let old {
            guard try !KeyRing(parsing: old.text.span).contains(id) else { throw .idTaken }
            text.append(contentsOf: old.text)
        }
        guard text.count <= maximumLength else { throw .tooLarge }
        try replace(path, with: text, like: old)
        guard fsync(directory) == 0 else { throw .system(operation: "sync the directory", code: errno) }
    }

    /// The file there is; nil if there is none, or none with anything in it.
    private static func existing(_ path: String) throws(KeyFileFault) -> Content? {
        do throws(KeyFileFault) {
            let content = try content(of: path)
            return content.text.isEmpty ? nil : content
        } catch .missing {
            return nil
        }
    }

    /// Writes the new file beside the old one and puts it in its place.
    private static func replace(_ path: String, with text: [UInt8], like old: Content?) throws(KeyFileFault) {
        let draft = path + ".new"
        // Under the lock, a draft can only be what a crash has left.
        _ = unsafe unlink(draft)
        let file = unsafe Glibc.open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw .system(operation: "create", code: errno) }
        do throws(KeyFileFault) {
            defer { _ = Glibc.close(file) }
            try write(text, to: file, like: old)
            guard unsafe rename(draft, path) == 0 else { throw .system(operation: "rename", code: errno) }
        } catch {
            _ = unsafe unlink(draft)
            throw error
        }
    }

    private static func write(_ text: [UInt8], to file: Int32, like old: Content?) throws(KeyFileFault) {
        guard fchmod(file, 0o600) == 0 else { throw .system(operation: "chmod", code: errno) }
        // An administrator who rotates keys must not take the file away from the service's user.
        if let old, old.owner != geteuid(), fchown(file, old.owner, old.group) != 0 {
            throw .system(operation: "chown", code: errno)
        }
        var written = 0
        while written < text.count {
            let count = unsafe text.withUnsafeBytes { buffer in
                unsafe Glibc.write(
                    file,
                    buffer.baseAddress.map { unsafe $0 + written },
                    buffer.count - written
                )
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw .system(operation: "write", code: errno) }
            written += count
        }
        guard fsync(file) == 0 else { throw .system(operation: "sync", code: errno) }
    }

    private static func lockedDirectory(of path: String) throws(KeyFileFault) -> Int32 {
        let parent = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? "."
        let directory = unsafe Glibc.open(parent.isEmpty ? "/" : parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw .system(operation: "open the directory", code: errno) }
        while flock(directory, LOCK_EX) != 0 {
            guard errno == EINTR else {
                let code = errno
                _ = Glibc.close(directory)
                throw .system(operation: "lock the directory", code: code)
            }
        }
        return directory
    }

    /// The path behind symbolic links, since renaming over a link would replace the link; the path itself if nothing is there yet.
    private static func resolved(_ path: String) -> String {
        guard let real = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }
}
