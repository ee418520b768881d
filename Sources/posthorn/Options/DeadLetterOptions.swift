internal import DeadLetters
internal import Hosting
internal import Kafka
internal import Lanes
internal import Postgres
internal import Push
internal import Settings

/// Which dead letters are meant, where they are, and who is asking.
enum DeadLetterOptions {
    // MARK: - Where

    static let stage = Option<FailureStage?>(
        optional: "stage",
        .choice(),
        otherwise: "both where one only looks, else dispatch",
        environment: .none,
        help: "Trigger events that could not be sealed, or notifications that could not be sent."
    )
    static let parked = Option(
        flag: "parked",
        environment: .none,
        help: "Notifications that were set aside, in place of the dead letters."
    )
    static let whereGroup = OptionGroup("Where", stage, parked, TopicOptions.prefix, TopicOptions.retryDelays)
    static let stageGroup = OptionGroup("Where", stage, TopicOptions.prefix, TopicOptions.retryDelays)

    // MARK: - Which

    static let reasons = Option<[DeadLetterReason]>(
        repeated: "reason",
        .choice(),
        environment: .none,
        help: "With this x-dlq-reason."
    )
    static let gateways = Option(
        repeated: "gateway",
        .origin,
        environment: .none,
        help: "For this gateway."
    )
    static let apps = Option(
        repeated: "app",
        .text("APP_ID"),
        environment: .none,
        help: "For this app."
    )
    static let channels = Option(
        repeated: "channel",
        .text("ID"),
        environment: .none,
        help: "Of this channel, where the record names it."
    )
    static let users = Option(
        repeated: "user",
        .text("ID"),
        environment: .none,
        help: "For this user; shown and written down as a digest only."
    )
    static let events = Option(
        repeated: "event",
        .text("ID"),
        environment: .none,
        help: "Of the event with this CloudEvents id."
    )
    static let since = Option(
        optional: "since",
        .moment,
        environment: .none,
        help: "Failed last at this time or later."
    )
    static let until = Option(
        optional: "until",
        .moment,
        environment: .none,
        help: "Failed last before this time."
    )
    static let attempts = Option(
        optional: "attempts",
        .range,
        environment: .none,
        help: "Tried as often as that before it was given up."
    )
    static let partition = Option(
        optional: "partition",
        .integer(in: 0...Int(Int32.max)),
        environment: .none,
        help: "In this partition of the dead-letter topic."
    )
    static let offsets = Option(
        optional: "offsets",
        .range,
        environment: .none,
        help: "At these offsets of the dead-letter topic."
    )
    static let replayID = Option(
        optional: "replay-id",
        .replayID,
        environment: .none,
        help: "Brought back by this replay, and failed again."
    )
    static let filterGroup = OptionGroup(
        "Which: all that is given must hold; of an option given several times, one",
        reasons,
        gateways,
        apps,
        channels,
        users,
        events,
        since,
        until,
        attempts,
        partition,
        offsets,
        replayID
    )

    // MARK: - What else

    /// What every command about dead letters works with, as ``DeadLetterCall`` takes it.
    static let callGroups = [KafkaOptions.group, DatabaseOptions.group, OperatorOptions.group]

    static let all = Option(
        flag: "all",
        environment: .none,
        help: "Also letters that are dealt with: replayed, parked or purged."
    )
    static let json = Option(flag: "json", environment: .none, help: "Print JSON.")

    /// Whether any option of ``filterGroup`` was given.
    static func isFiltered(_ values: Values) -> Bool {
        values.isGiven(reasons) || values.isGiven(gateways) || values.isGiven(apps)
            || values.isGiven(channels) || values.isGiven(users) || values.isGiven(events)
            || values.isGiven(since) || values.isGiven(until) || values.isGiven(attempts)
            || values.isGiven(partition) || values.isGiven(offsets) || values.isGiven(replayID)
    }
}

/// What a command about dead letters has to work with, made of its options.
struct DeadLetterCall: ~Copyable {
    let desk: Desk
    var connection: Connection
    let now = Timestamp(milliseconds: WallClock.milliseconds())
    private let values: Values

    init(_ invocation: Invocation) throws {
        let values = invocation.values
        let name = try OperatorOptions.name(values)
        let connection = try DatabaseOptions.connect(values)
        self.values = values
        self.connection = connection
        desk = Desk(
            topics: TopicOptions.catalogue(values),
            kafka: Kafka.Configuration(KafkaOptions.properties(values)),
            operator: name
        )
    }

    /// The topics to look at: both stages' unless one is named.
    func sources() throws -> [LetterSource] {
        if values[DeadLetterOptions.parked] { return [try parking()] }
        switch values[DeadLetterOptions.stage] {
        case .encrypt?: return [desk.source(.encrypt)]
        case .dispatch?: return [desk.source(.dispatch)]
        case nil: return [desk.source(.dispatch), desk.source(.encrypt)]
        }
    }

    /// The one topic to work on; `canBeParked` for a command that has ``DeadLetterOptions/parked``.
    func source(canBeParked: Bool = true) throws -> LetterSource {
        if canBeParked, values[DeadLetterOptions.parked] { return try parking() }
        return desk.source(values[DeadLetterOptions.stage] == .encrypt ? .encrypt : .dispatch)
    }

    private func parking() throws -> LetterSource {
        guard values[DeadLetterOptions.stage] != .encrypt else {
            let problem =
                "only notifications are moved when they are parked; trigger events are marked in place"
            throw SettingsError([values.fault(DeadLetterOptions.parked, problem)])
        }
        return desk.source(.parking)
    }

    /// Which letters are meant.
    mutating func filter() throws -> DeadLetterFilter {
        var filter = DeadLetterFilter()
        filter.reasons = Set(values[DeadLetterOptions.reasons])
        filter.gateways = Set(values[DeadLetterOptions.gateways].map(\.text))
        filter.apps = Set(values[DeadLetterOptions.apps])
        filter.channels = Set(values[DeadLetterOptions.channels])
        filter.events = Set(values[DeadLetterOptions.events])
        filter.since = values[DeadLetterOptions.since]?.timestamp(now: now)
        filter.until = values[DeadLetterOptions.until]?.timestamp(now: now)
        filter.attempts = values[DeadLetterOptions.attempts].map {
            Int(clamping: $0.lowerBound)...Int(clamping: $0.upperBound)
        }
        filter.partition = values[DeadLetterOptions.partition].map { Int32($0) }
        filter.offsets = values[DeadLetterOptions.offsets]
        filter.replay = values[DeadLetterOptions.replayID]?.description
        let users = values[DeadLetterOptions.users]
        if !users.isEmpty {
            var pseudonyms = try Pseudonyms(from: &connection)
            for user in users { filter.users.insert(try pseudonyms.text(of: Array(user.utf8))) }
        }
        return filter
    }

    /// Tells of a topic that was made anew, whose old book is not to be believed.
    func warn(_ book: LetterBook) {
        guard book.isRecreated else { return }
        Diagnostics.write(
            "posthorn: \(book.topic) was made anew since it was last worked on; all its letters count as open\n"
        )
    }
}
