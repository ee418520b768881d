/// Text in columns for people: headings, wrapped paragraphs, and entries with a name on the left.
struct HelpText {
    private let width: Int
    private let isBold: Bool
    private(set) var text = ""

    /// - Parameters:
    ///   - width: Columns to fill, clamped to 40 to 100; longer lines are hard to read.
    ///   - isBold: Whether to mark headings and names for a terminal.
    init(width: Int, isBold: Bool) {
        self.width = min(max(width, 40), 100)
        self.isBold = isBold
    }

    mutating func heading(_ title: String) {
        text += "\n\(bold(title))\n"
    }

    mutating func paragraph(_ content: String, indent: Int = 0) {
        for line in Self.wrap(content, width: width - indent) {
            text += String(repeating: " ", count: line.isEmpty ? 0 : indent) + line + "\n"
        }
    }

    /// A name at two columns, what it means at `column`; the name gets a line of its own when it is too wide.
    mutating func entry(_ name: String, column: Int, _ paragraphs: [String]) {
        let lines = paragraphs.filter { !$0.isEmpty }.flatMap { Self.wrap($0, width: width - column) }
        let length = name.unicodeScalars.count
        let fits = length + 4 <= column
        text += "  \(bold(name))"
        if fits, let first = lines.first {
            text += String(repeating: " ", count: column - 2 - length) + first
        }
        text += "\n"
        for line in fits ? lines.dropFirst() : lines[...] {
            text += String(repeating: " ", count: column) + line + "\n"
        }
    }

    private func bold(_ content: String) -> String {
        isBold ? "\u{1b}[1m\(content)\u{1b}[0m" : content
    }

    /// Lines of at most `width` columns where words allow; empty lines part paragraphs and stay.
    static func wrap(_ content: String, width: Int) -> [String] {
        var lines: [String] = []
        for paragraph in content.split(separator: "\n", omittingEmptySubsequences: false) {
            var line = ""
            var length = 0
            for word in paragraph.split(separator: " ") {
                let size = word.unicodeScalars.count
                if length > 0, length + 1 + size > width {
                    lines.append(line)
                    (line, length) = (String(word), size)
                } else {
                    line += length > 0 ? " \(word)" : String(word)
                    length += length > 0 ? size + 1 : size
                }
            }
            lines.append(line)
        }
        return lines
    }
}
