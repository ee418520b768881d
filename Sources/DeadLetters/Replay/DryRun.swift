package import Postgres
package import Push

/// What a replay would do now: it reads and asks, and writes nothing anywhere.
package struct DryRun: Sendable {
    package var tally = ReplayTally()
    /// Of each cause, the first letter that it refuses and what it would be told.
    package var examples: [ReplayRefusal.Cause: (place: String, detail: String)] = [:]

    package init() {}

    mutating func count(_ letter: Letter, _ verdict: Verdict) {
        tally.count(verdict, reason: letter.facts.reason)
        if case .refuse(let refusal) = verdict, examples[refusal.cause] == nil {
            examples[refusal.cause] = (letter.place, refusal.detail)
        }
    }
}

extension Desk {
    /// Judges every letter that a replay would look at.
    ///
    /// - Parameters:
    ///   - filter: which letters.
    ///   - rules: what would be done with them; its limit ends the reading, as it would end the replay.
    ///   - source: the topic.
    ///   - now: by which expiry is judged.
    ///   - connection: the database; only read.
    ///   - observe: told how many were judged so far.
    /// - Returns: counts, and an example of each refusal.
    /// - Throws: ``DeadLettersError`` when broker or database do not answer.
    package func dryRun(
        _ filter: DeadLetterFilter,
        _ rules: ReplayRules,
        from source: LetterSource,
        now: Timestamp,
        in connection: inout Connection,
        observe: (Int) -> Void = { _ in }
    ) throws(DeadLettersError) -> DryRun {
        let (bounds, book) = try look(at: source, in: &connection)
        let choice = LetterChoice(filter, book)
        var scan = try scan(source, in: &connection)
        var query = CircumstancesQuery()
        let judge = Judge(source, rules)
        var run = DryRun()
        try scan.begin(bounds.narrowed(by: filter))
        while let letters = try scan.next(now: now) {
            let chosen = letters.filter { choice.takes($0.facts) }
            if chosen.isEmpty { continue }
            let facts = try query.run(chosen, on: &connection)
            for letter in chosen {
                if let limit = rules.limit, run.tally.replayed >= limit { return run }
                run.count(letter, judge.verdict(on: letter, facts, now: now))
            }
            observe(run.tally.matched)
        }
        return run
    }

    /// What a replay would do with one letter now.
    package func verdict(
        on letter: Letter,
        _ rules: ReplayRules,
        from source: LetterSource,
        now: Timestamp,
        in connection: inout Connection
    ) throws(DeadLettersError) -> Verdict {
        var query = CircumstancesQuery()
        let facts = try query.run([letter], on: &connection)
        return Judge(source, rules).verdict(on: letter, facts, now: now)
    }
}
