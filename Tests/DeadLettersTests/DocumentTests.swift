import LocalServices
import Push
import Support
import Testing

@testable import DeadLetters

/// docs/dead-letters.md says of everything that can be what it means and what to do.
struct DocumentTests {
    private let text = String(
        decoding: Files.read(Checkout.path("docs/dead-letters.md")) ?? [],
        as: UTF8.self
    )

    /// The rows of the table under a heading, cell by cell.
    private func rows(under heading: String) -> [[String]] {
        guard let section = text.split(separator: "## \(heading)\n", maxSplits: 1).dropFirst().first else {
            return []
        }
        let own = section.split(separator: "\n## ", maxSplits: 1).first ?? section
        return own.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
            line.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }
        }
    }

    @Test func `every reason has a row with cause and remedy, and no row is of another`() {
        let rows = rows(under: "Reasons")
        #expect(rows.map { $0[0] } == DeadLetterReason.allCases.map { "`\($0.rawValue)`" })
        for row in rows {
            #expect(row.count == 4, "\(row)")
            #expect(row.dropFirst(2).allSatisfy { $0.utf8.count >= 5 }, "\(row)")
        }
    }

    @Test func `every refusal has a row too`() {
        let rows = rows(under: "What a replay does")
        #expect(rows.map { $0[0] } == ReplayRefusal.Cause.allCases.map { "`\($0.rawValue)`" })
        for row in rows { #expect(row.count == 3 && row.allSatisfy { $0.utf8.count >= 5 }, "\(row)") }
    }
}
