internal import DeadLetters
internal import Hosting
internal import JSON
internal import Push
internal import Settings

/// The command `posthorn dead-letters stats`.
enum DeadLettersStatsCommand {
    static let command = Command(
        CommandSyntax(
            "dead-letters",
            "stats",
            summary: "count dead letters by reason, gateway, app and age",
            description: """
                Counts open letters: those that were not replayed, parked or purged. Age is counted from the last failure.
                """,
            groups: [
                OptionGroup("Options", DeadLetterOptions.all, DeadLetterOptions.json),
                DeadLetterOptions.filterGroup, DeadLetterOptions.whereGroup,
            ] + DeadLetterOptions.callGroups
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        var call = try DeadLetterCall(invocation)
        let filter = try call.filter()
        let sources = try call.sources()
        let includesAll = invocation.values[DeadLetterOptions.all]
        let now = call.now
        var statistics = LetterStatistics()
        for source in sources {
            let (bounds, book) = try call.desk.look(at: source, in: &call.connection)
            call.warn(book)
            var scan = try call.desk.scan(source, in: &call.connection)
            let choice = LetterChoice(
                filter,
                book,
                includesDealtWith: includesAll,
                includesPurged: includesAll
            )
            try scan.begin(bounds.narrowed(by: filter))
            while let letters = try scan.next(now: now) {
                for letter in letters where choice.takes(letter.facts) {
                    statistics.count(letter.facts, choice.state(of: letter.facts), now: now)
                }
            }
        }
        let topics = sources.map(\.topic)
        if invocation.values[DeadLetterOptions.json] {
            try invocation.output.json { write(statistics, topics, to: &$0) }
        } else {
            try show(statistics, topics, invocation.output)
        }
        return .done
    }

    private static func write(_ counts: LetterStatistics, _ topics: [String], to writer: inout Writer) {
        writer.object { writer in
            writer.name("topics")
            writer.array { writer in for topic in topics { writer.string(topic) } }
            writer.member("letters", counts.total)
            writer.optional("oldest", counts.oldest?.rfc3339)
            writer.optional("newest", counts.newest?.rfc3339)
            writer.counts("reasons", counts.reasons)
            writer.counts("gateways", counts.gateways)
            writer.counts("apps", counts.apps)
            writer.counts("ages", named(counts.ages) { $0.rawValue })
            writer.counts("dispositions", named(counts.dispositions) { $0.rawValue })
        }
    }

    private static func named<Key>(_ counts: [Key: Int], _ name: (Key) -> String) -> [String: Int] {
        Dictionary(counts.map { (name($0.key), $0.value) }, uniquingKeysWith: +)
    }

    private static func show(_ counts: LetterStatistics, _ topics: [String], _ output: Output) throws {
        guard counts.total > 0 else {
            return try output.line("no dead letters that match in \(topics.joined(separator: " and "))")
        }
        func table(_ title: String, _ counts: [(String, Int)]) throws {
            guard !counts.isEmpty else { return }
            var table = Table((title, .left), ("LETTERS", .right))
            for (name, count) in counts { table.add(name, Quantity.grouped(Int64(count))) }
            try output.write("\n" + table.rendered())
        }
        func largestFirst(_ counts: [String: Int]) -> [(String, Int)] {
            counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
        }
        let oldest = counts.oldest?.rfc3339 ?? ""
        let newest = counts.newest?.rfc3339 ?? ""
        try output.line(
            """
            \(Quantity.grouped(Int64(counts.total))) dead letters in \(topics.joined(separator: " and ")), \
            failed from \(oldest) to \(newest)
            """
        )
        try table("REASON", largestFirst(counts.reasons))
        try table("GATEWAY", largestFirst(counts.gateways))
        try table("APP", largestFirst(counts.apps))
        try table(
            "AGE",
            LetterStatistics.Age.allCases.compactMap { age in counts.ages[age].map { (age.rawValue, $0) } }
        )
        try table("DEALT WITH", largestFirst(named(counts.dispositions) { $0.rawValue }))
    }
}
