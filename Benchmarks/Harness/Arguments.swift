/// What the command line asks for.
struct Arguments {
    var isJSON = false
    var wantsHelp = false
    /// What is reported, in the order of the report.
    var names = BenchmarkName.allCases
    /// Trigger events in one measurement.
    var events = 60_000
    /// Notifications that wait at once; as many as ``events`` if that is given.
    var waiting = 200_000
    /// How often each is measured; the median counts.
    var rounds = 3

    static let help = """
        Measures the pipeline against baselines on a real Kafka and a private PostgreSQL, and prints a table.

        Usage: posthorn-bench [options]

          --json         one JSON object a line: name, notifications_per_s, ratio, cpu_us_per_notification, peak_rss_mb
          --only NAME    only this one, with its baseline; may be repeated
          --events N     trigger events in one measurement, and notifications that wait, from 10000 to 10000000;
                         default 60000 events, and 200000 that wait, or 1000000 with --only waiting (4 GB in /tmp)
          --rounds N     how often each is measured, from 1 to 99; the median counts; default 3
          --help         this text

        Names:
        \(BenchmarkName.allCases.map { "  \($0.rawValue)\(spaces($0.rawValue))\($0.summary)\n" }.joined())
        Kafka comes from KAFKA_HOME, a folder laid out as Apache's release, or from .kafka/ here (see 'make kafka').

        """

    init(_ words: [String]) throws(BenchmarkError) {
        var chosen: Set<BenchmarkName> = []
        var givenEvents: Int?
        var rest = words[...]
        while let word = rest.popFirst() {
            switch word {
            case "--json": isJSON = true
            case "--help", "-h": wantsHelp = true
            case "--only":
                guard let name = rest.popFirst().flatMap(BenchmarkName.init(rawValue:)) else {
                    throw .usage("--only needs one of \(Self.allNames)")
                }
                chosen.formUnion([name] + (name.baseline.map { [$0] } ?? []))
            case "--events": givenEvents = try Self.number(&rest, word, 10_000...10_000_000)
            case "--rounds": rounds = try Self.number(&rest, word, 1...99)
            default: throw .usage("there is no option '\(word)'")
            }
        }
        if !chosen.isEmpty { names = names.filter(chosen.contains) }
        events = givenEvents ?? events
        waiting = givenEvents ?? (chosen.contains(.waiting) ? 1_000_000 : waiting)
    }

    private static var allNames: String { BenchmarkName.allCases.map(\.rawValue).joined(separator: ", ") }

    private static func spaces(_ name: String) -> String {
        String(repeating: " ", count: max(1, 18 - name.utf8.count))
    }

    private static func number(
        _ rest: inout ArraySlice<String>,
        _ option: String,
        _ range: ClosedRange<Int>
    ) throws(BenchmarkError) -> Int {
        guard let number = rest.popFirst().flatMap({ Int($0) }), range.contains(number) else {
            throw .usage("\(option) needs a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
