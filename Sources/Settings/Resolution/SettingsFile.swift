/// A file of settings: lines of `NAME=value` with the names of the environment.
///
/// Space around names and values is dropped, and quotes around a whole value; `#` begins a comment at the start of a line only, because
/// passwords may hold one. The same format as the environment files of systemd and Docker, so one file can serve both.
struct SettingsFile {
    struct Entry: Equatable {
        let value: String
        let line: Int
    }

    /// Larger files are refused, in bytes.
    static let sizeLimit = 1 << 20

    private(set) var entries: [String: Entry] = [:]
    private(set) var faults: [Fault] = []

    init(path: String, content: [UInt8]) {
        guard let text = String(validating: content, as: UTF8.self) else {
            faults.append(Fault(path, from: .file(path: path, line: 1), "is not UTF-8 text"))
            return
        }
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let content = Self.trimmed(line)
            if content.isEmpty || content.hasPrefix("#") { continue }
            take(content, source: .file(path: path, line: index + 1), line: index + 1)
        }
    }

    private mutating func take(_ content: Substring, source: Fault.Source, line: Int) {
        guard let equals = content.firstIndex(of: "=") else {
            faults.append(Fault("the line", from: source, "is not NAME=value"))
            return
        }
        let name = String(Self.trimmed(content[..<equals]))
        guard !name.isEmpty, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            faults.append(Fault("the line", from: source, "is not NAME=value"))
            return
        }
        if let earlier = entries[name] {
            faults.append(Fault(name, from: source, "was already given on line \(earlier.line)"))
            return
        }
        let value = Self.unquoted(Self.trimmed(content[content.index(after: equals)...]))
        entries[name] = Entry(value: String(value), line: line)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }

    private static func unquoted(_ text: Substring) -> Substring {
        guard text.count >= 2, let quote = text.first, quote == "\"" || quote == "'", text.last == quote
        else {
            return text
        }
        return text.dropFirst().dropLast()
    }
}
