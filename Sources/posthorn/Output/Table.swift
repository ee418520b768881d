internal import Telemetry

/// Rows in columns for a person; programs take JSON.
struct Table {
    enum Alignment {
        case left
        case right
    }

    private let titles: [String]
    private let alignments: [Alignment]
    private var rows: [[String]] = []

    /// Columns by title, numbers to the right: `Table(("ORIGIN", .left), ("PUSHERS", .right))`.
    init(_ columns: (title: String, alignment: Alignment)...) {
        titles = columns.map(\.title)
        alignments = columns.map(\.alignment)
    }

    /// Adds a row with one cell a column; what is missing stays empty, and nothing in a cell can steer the terminal.
    mutating func add(_ cells: String...) {
        let padding = Array(repeating: "", count: max(0, titles.count - cells.count))
        rows.append((cells + padding).prefix(titles.count).map(LogText.printable))
    }

    /// All lines, the titles first; columns are two spaces apart and lines end without spaces.
    func rendered() -> String {
        let lines = [titles] + rows
        let widths = titles.indices.map { column in
            lines.map { $0[column].unicodeScalars.count }.max() ?? 0
        }
        var text = ""
        for line in lines {
            var rendered = ""
            for (column, cell) in line.enumerated() {
                let padding = String(repeating: " ", count: widths[column] - cell.unicodeScalars.count)
                rendered += alignments[column] == .right ? padding + cell : cell + padding
                rendered += "  "
            }
            while rendered.last == " " { rendered.removeLast() }
            text += rendered + "\n"
        }
        return text
    }
}
