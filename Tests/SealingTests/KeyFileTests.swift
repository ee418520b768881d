import Glibc
import Testing

@testable import Sealing

struct `The key file` {
    private static let digits = String(repeating: "0a", count: 32)

    @Test
    func `keys are read in the order of the file, comments and blank lines aside`() throws {
        let text = "# first\n\n 2027-01\t\(Self.digits)  \r\n#x y z\nold.key_1 \(Self.digits.uppercased())"
        let ring = try KeyRing(parsing: text.utf8.span)
        #expect(ring.ids == ["2027-01", "old.key_1"])
        #expect(ring.activeID == "2027-01")
        #expect(try ring.withKey("old.key_1") { Hex.text($0) } == Self.digits)
        #expect(throws: SealingError.unknownKey("older")) { try ring.withKey("older") { _ in } }
    }

    @Test(arguments: [
        ("a", 1, KeyFileFault.LineFault.shape), ("a \(digits) x", 1, .shape),
        ("# c\n\nkey/1 \(digits)", 3, .id),
        ("\(String(repeating: "i", count: 65)) \(digits)", 1, .id), ("a \(digits)0", 1, .digits),
        ("a \(digits.dropLast())", 1, .digits),
        ("a \(digits.dropLast())g", 1, .digits), ("a \(digits)\nb \(digits)\na \(digits)", 3, .duplicate),
        ("\(digits)", 1, .shape),
    ])
    func `a malformed line is named by number and reason, without a byte of a key`(
        _ text: String,
        _ line: Int,
        _ fault: KeyFileFault.LineFault
    ) {
        let error = #expect(throws: KeyFileFault.self) { _ = try KeyRing(parsing: text.utf8.span).ids }
        #expect(error == .malformedLine(line, fault))
        #expect(error?.description.contains("0a0a") == false)
    }

    @Test(arguments: ["", "\n\n", "# nothing\n"])
    func `a file without a key is refused`(_ text: String) {
        #expect(throws: KeyFileFault.noKey) { _ = try KeyRing(parsing: text.utf8.span).ids }
    }

    @Test
    func `generating makes a private file, then puts the new key first and keeps the rest as it was`() throws
    {
        try withFolder { folder in
            let path = folder + "/keys"
            let first = try KeyFile.generate(path)
            #expect(mode(path) == 0o600)
            let text = "# mine\n" + content(path)
            write(text, to: path)
            let second = try KeyFile.generate(path, id: "2027-01")
            #expect(second == "2027-01")
            #expect(content(path).hasSuffix(text) && content(path).hasPrefix("2027-01 "))
            #expect(mode(path) == 0o600)
            #expect(try KeyFile.read(path).ids == [second, first])
            #expect(throws: SealingError.keyFile(path: path, .idTaken)) {
                try KeyFile.generate(path, id: first)
            }
            #expect(throws: SealingError.keyFile(path: path, .malformedLine(1, .id))) {
                try KeyFile.generate(path, id: "a b")
            }
            #expect(entries(folder) == ["keys"])
        }
    }

    @Test
    func `generating through a link keeps the link, and a faulty file is not touched`() throws {
        try withFolder { folder in
            let (path, link) = (folder + "/keys", folder + "/link")
            try KeyFile.generate(path)
            #expect(unsafe symlink("keys", link) == 0)
            try KeyFile.generate(link)
            #expect(try KeyFile.read(path).ids.count == 2)
            #expect(entries(folder) == ["keys", "link"])
            write("broken", to: path)
            #expect(throws: SealingError.keyFile(path: path, .malformedLine(1, .shape))) {
                try KeyFile.generate(path)
            }
            #expect(content(path) == "broken")
            #expect(entries(folder) == ["keys", "link"])
        }
    }

    @Test(arguments: [0o640, 0o604, 0o660, 0o644, 0o610, 0o601])
    func `a file that is open to others is refused`(_ mode: mode_t) throws {
        try withFolder { folder in
            let path = folder + "/keys"
            try KeyFile.generate(path)
            unsafe chmod(path, mode)
            let error = #expect(throws: SealingError.self) { _ = try KeyFile.read(path).ids }
            guard case .keyFile(_, .openToOthers(let found)) = error else {
                return #expect(error == nil, "another error")
            }
            #expect(found & 0o777 == mode)
        }
    }

    @Test
    func `what is no regular file of ours is refused`() throws {
        try withFolder { folder in
            #expect(throws: SealingError.keyFile(path: folder, .notRegularFile)) {
                _ = try KeyFile.read(folder).ids
            }
            let pipe = folder + "/pipe"
            unsafe mkfifo(pipe, 0o600)
            #expect(throws: SealingError.keyFile(path: pipe, .notRegularFile)) {
                _ = try KeyFile.read(pipe).ids
            }
            #expect(throws: SealingError.keyFile(path: folder + "/none", .missing)) {
                _ = try KeyFile.read(folder + "/none").ids
            }
            let large = folder + "/large"
            write(String(repeating: "#\n", count: KeyFile.maximumLength), to: large)
            #expect(throws: SealingError.keyFile(path: large, .tooLarge)) { _ = try KeyFile.read(large).ids }
        }
    }

    @Test(.enabled(if: geteuid() == 0, "needs root to give a file away"))
    func `a stranger's file is refused, and a service's file stays the service's`() throws {
        try withFolder { folder in
            let path = folder + "/keys"
            try KeyFile.generate(path)
            // Another user's: neither root's nor the process's.
            unsafe chown(path, 12_345, 12_345)
            #expect(throws: SealingError.keyFile(path: path, .foreignOwner)) {
                _ = try KeyFile.read(path).ids
            }
        }
    }

    // MARK: - Files

    private func withFolder(_ body: (String) throws -> Void) throws {
        var template = Array("/tmp/posthorn-keys-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil)
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer {
            for name in entries(folder) { unsafe unlink(folder + "/" + name) }
            unsafe rmdir(folder)
        }
        try body(folder)
    }

    private func entries(_ folder: String) -> [String] {
        guard let directory = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    private func write(_ text: String, to path: String) {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        let bytes = Array(text.utf8)
        _ = unsafe Glibc.write(file, bytes, bytes.count)
        close(file)
    }

    private func content(_ path: String) -> String {
        let file = unsafe open(path, O_RDONLY)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 100_000)
        let count = unsafe read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        unsafe stat(path, &status)
        return status.st_mode & 0o777
    }
}
