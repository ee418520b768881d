/// Where a demonstration is shown: a terminal, on which a block of lines is drawn again and again, or anything that takes lines.
package struct Screen: Sendable {
    /// Whether a block can be drawn over.
    let isTerminal: Bool
    let ink: Ink
    private let width: Int
    private let write: @Sendable (String) throws -> Void
    /// Lines of the block that is drawn at present.
    private var drawn = 0

    /// - Parameters:
    ///   - isTerminal: whether a person watches on a terminal that knows the usual sequences.
    ///   - width: its columns.
    ///   - colours: whether to use them.
    ///   - write: takes text, line ends included, and shows it at once; what it throws ends the demonstration.
    package init(
        isTerminal: Bool,
        width: Int,
        colours: Bool,
        write: @escaping @Sendable (String) throws -> Void
    ) {
        self.isTerminal = isTerminal
        self.width = max(width, 20)
        self.write = write
        ink = Ink(isUsed: colours)
    }

    /// Writes lines that stay, below the block if there is one.
    mutating func lines(_ lines: [String]) throws {
        guard !lines.isEmpty else { return }
        drawn = 0
        try write(lines.map { $0 + "\n" }.joined())
    }

    /// Takes the block away, and writes lines that stay.
    mutating func replace(with lines: [String]) throws {
        if drawn > 0 { try write("\u{1b}[\(drawn)A\r\u{1b}[J") }
        try self.lines(lines)
    }

    /// Draws a block in the place of the one before; only on a terminal.
    mutating func redraw(_ lines: [String]) throws {
        guard isTerminal else { return }
        let up = drawn > 0 ? "\u{1b}[\(drawn)A" : ""
        try write(up + lines.map { "\r\(clipped($0))\u{1b}[K\n" }.joined() + "\u{1b}[J")
        drawn = lines.count
    }

    /// Leaves the block as it is.
    mutating func keep() { drawn = 0 }

    /// What fits into one row, since a row that wraps cannot be drawn over; sequences for colours take no room.
    private func clipped(_ line: String) -> String {
        var room = width - 1
        var isSequence = false
        var result = String.UnicodeScalarView()
        for scalar in line.unicodeScalars {
            if scalar == "\u{1b}" { isSequence = true }
            if !isSequence {
                guard room > 0 else { continue }
                room -= 1
            }
            result.append(scalar)
            if isSequence, scalar == "m" { isSequence = false }
        }
        return String(result)
    }
}

/// Colours, or none.
///
/// Source: ECMA-48 §8.3.117 (SGR).
struct Ink: Sendable {
    let isUsed: Bool

    func bold(_ text: String) -> String { paint(text, "1") }
    func faint(_ text: String) -> String { paint(text, "2") }
    func good(_ text: String) -> String { paint(text, "32") }
    func bad(_ text: String) -> String { paint(text, "1;31") }
    func accent(_ text: String) -> String { paint(text, "36") }

    private func paint(_ text: String, _ code: String) -> String {
        isUsed ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
    }
}

extension String {
    /// Filled up with blanks to `width` columns, the text at the left.
    func leading(_ width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - unicodeScalars.count))
    }

    /// The same, the text at the right.
    func trailing(_ width: Int) -> String {
        String(repeating: " ", count: max(0, width - unicodeScalars.count)) + self
    }
}
