internal import Kafka
internal import Lanes
internal import Postgres
package import Push

/// Works through a replay, step by step, on the thread that holds the topic's lock.
///
/// ```
/// read ─▶ filter ─▶ ask the database ─▶ judge ─▶ write ─▶ announce ─▶ commit in Kafka ─▶ settle
///   ▲                                                                                     │
///   └──────────── wait for the rate and the live lanes; look for returns ◀────────────────┘
/// ```
///
/// Killed between any two of these, it goes on with nothing lost and nothing sent twice (``ReplayBook``). A step that fails is undone and
/// tried again a few times; then the replay stops, to be gone on with.
struct ReplayRun: ~Copyable {
    private let source: LetterSource
    let settings: ReplaySettings
    let stop: StopSign
    let lock: TopicLock
    private let choice: LetterChoice
    private var replay: StoredReplay
    private let judge: Judge
    private var scanner: Scanner
    private var reader: LetterReader
    private var writer: StepWriter
    var lag: LagWatch
    private var returns: ReturnWatch
    var pace: RatePace?
    private let observe: (ReplayProgress) -> Void

    init(
        _ desk: Desk,
        _ source: LetterSource,
        _ replay: StoredReplay,
        _ settings: ReplaySettings,
        _ held: Desk.Held,
        stop: StopSign,
        in connection: inout Connection,
        observe: @escaping (ReplayProgress) -> Void
    ) throws(DeadLettersError) {
        let writer = try StepWriter(source, desk.kafka, patience: settings.patience)
        let scanner = try Scanner(desk.kafka, group: replay.group, patience: settings.patience)
        let reader = LetterReader(source, try Pseudonyms(from: &connection))
        let target = try desk.bounds(of: source.target)
        // What is set aside does not come in front of anything.
        let isInFront = replay.rules.purpose == .replay
        let lag = try LagWatch(
            desk.kafka,
            group: source.liveGroup,
            topic: source.target,
            partitions: target.ranges.keys.sorted(),
            allowance: isInFront ? settings.lagAllowance : nil
        )
        let returns = try ReturnWatch(
            desk.kafka,
            behind: try desk.bounds(of: source.returns),
            replay: replay.id.description
        )
        self.source = source
        self.replay = replay
        self.settings = settings
        lock = held.lock
        choice = LetterChoice(replay.filter, held.book)
        self.stop = stop
        self.observe = observe
        self.writer = writer
        self.scanner = scanner
        self.reader = reader
        self.lag = lag
        self.returns = returns
        judge = Judge(source, replay.rules)
        pace = settings.rate.map { RatePace(rate: $0, from: .now) }
    }

    /// Works until the bounds are reached or something stops it.
    mutating func run(in connection: inout Connection) -> (end: ReplayEnd, replay: StoredReplay) {
        do throws(DeadLettersError) {
            try scanner.begin(replay.remaining.narrowed(by: replay.filter))
            while true {
                let records = try scanner.next(limit: settings.step)
                if records.isEmpty { return (.finished, replay) }
                var letters: [Letter] = []
                letters.reserveCapacity(records.count)
                let now = Timestamp(milliseconds: WallClock.milliseconds())
                for record in records { letters.append(try reader.read(record, now: now)) }
                if let end = try work(through: letters, now: now, in: &connection) { return (end, replay) }
            }
        } catch {
            return (.failed(error), replay)
        }
    }

    // MARK: - Steps

    /// - Returns: nil to read on.
    private mutating func work(
        through letters: [Letter],
        now: Timestamp,
        in connection: inout Connection
    ) throws(DeadLettersError) -> ReplayEnd? {
        let wanted = letters.filter { choice.takes($0.facts) }
        var facts = Circumstances()
        if !wanted.isEmpty, replay.rules.purpose == .replay {
            var query = CircumstancesQuery()
            facts = try patiently(&connection) { (connection: inout Connection) throws(DeadLettersError) in
                try query.run(wanted, on: &connection)
            }
        }
        var index = 0
        while index < letters.count {
            var step = Step(replay, source)
            while index < letters.count, step.decided < settings.stepLimit, !hasReachedLimit(step) {
                let letter = letters[index]
                if choice.takes(letter.facts) {
                    step.add(letter, judge.verdict(on: letter, facts, now: now), now: now)
                } else {
                    step.pass(letter.facts)
                }
                index += 1
            }
            if let end = try finish(step, in: &connection) { return end }
        }
        return nil
    }

    private func hasReachedLimit(_ step: Step) -> Bool {
        replay.rules.limit.map { replay.tally.replayed + step.sent >= $0 } ?? false
    }

    /// Waits for its turn, puts a step into force, and looks around.
    ///
    /// - Returns: why to stop, if there is a reason.
    private mutating func finish(
        _ step: Step,
        in connection: inout Connection
    ) throws(DeadLettersError) -> ReplayEnd? {
        if stop.isRaised { return .interrupted }
        if let end = try waitForTurn(step, in: &connection) { return end }
        try commit(step, in: &connection)
        for (partition, next) in step.pending.next { replay.progress[partition]?.next = next }
        replay.tally = step.pending.tally
        let isAtLimit = replay.rules.limit.map { replay.tally.replayed >= $0 } ?? false
        returns.look()
        observe(
            ReplayProgress(
                replay: replay.id,
                remaining: replay.remaining.span,
                tally: replay.tally,
                returned: returns.count
            )
        )
        if let maximum = settings.maximumReturns, returns.count >= maximum {
            return .returned(returns.count)
        }
        return isAtLimit ? .limitReached : nil
    }

    /// The step is tried again when the broker or the database was away for a moment.
    private mutating func commit(_ step: Step, in connection: inout Connection) throws(DeadLettersError) {
        var pause = Duration.milliseconds(200)
        var left = settings.attempts
        let deadline = ContinuousClock.now + settings.patience
        while true {
            do throws(DeadLettersError) {
                try reconnect(&connection)
                return try commitOnce(step, in: &connection)
            } catch {
                left -= 1
                do throws(KafkaError) { try writer.abort() } catch {
                    throw error.isFenced ? .lockLost(topic: source.topic) : .kafka(error)
                }
                guard error.mayPass, left > 0, ContinuousClock.now < deadline, !stop.wait(for: pause) else {
                    throw error
                }
                pause = pause * 2
            }
        }
    }

    private mutating func commitOnce(
        _ step: Step,
        in connection: inout Connection
    ) throws(DeadLettersError) {
        let id = replay.id
        let lock = lock
        guard !step.records.isEmpty else {
            // Nothing for Kafka to commit: it is in force at once.
            return try connection.transaction(attempts: 3) {
                (connection: inout Connection) throws(DeadLettersError) in
                try lock.insist(in: &connection)
                try database { () throws(PostgresError) in
                    try ReplayBook.announce(step.pending, of: id, in: &connection)
                    try ReplayBook.settle(id, in: &connection)
                }
            }
        }
        let group = try scanner.groupMetadata()
        try write(step)
        try connection.transaction(attempts: 3) {
            (connection: inout Connection) throws(DeadLettersError) in
            try lock.insist(in: &connection)
            try database { () throws(PostgresError) in
                try ReplayBook.announce(step.pending, of: id, in: &connection)
            }
        }
        do throws(KafkaError) {
            let offsets = step.pending.next.map {
                TopicPartitionOffset(source.topic, $0.key, offset: $0.value)
            }
            try writer.commit(offsets, group: group)
        } catch {
            throw error.isFenced ? .lockLost(topic: source.topic) : .kafka(error)
        }
        try settle(in: &connection)
    }

    private mutating func write(_ step: Step) throws(DeadLettersError) {
        do throws(KafkaError) {
            try writer.begin()
            for record in step.records { try writer.write(record) }
            try writer.flush()
        } catch {
            throw error.isFenced ? .lockLost(topic: source.topic) : .kafka(error)
        }
    }

    /// What Kafka has committed must be put into force, or found to be by whoever goes on.
    ///
    /// Only by who has the lock: whoever took it has found out about this step, and may have announced another one of the same replay.
    private func settle(in connection: inout Connection) throws(DeadLettersError) {
        let (id, lock) = (replay.id, lock)
        let deadline = ContinuousClock.now + settings.patience
        while true {
            do throws(DeadLettersError) {
                try reconnect(&connection)
                return try connection.transaction(attempts: 3) {
                    (connection: inout Connection) throws(DeadLettersError) in
                    try lock.insist(in: &connection)
                    try database { () throws(PostgresError) in try ReplayBook.settle(id, in: &connection) }
                }
            } catch {
                guard error.mayPass, ContinuousClock.now < deadline else {
                    throw .unsettled(error.postgresError)
                }
                StopSign.none.wait(for: .milliseconds(200))
            }
        }
    }
}

/// How far a replay is, for who watches.
package struct ReplayProgress: Sendable {
    package let replay: UUIDBytes
    /// Offsets that are still to be looked at.
    package let remaining: Int64
    package let tally: ReplayTally
    /// Letters of this replay that have come back as new dead letters.
    package let returned: Int
}
