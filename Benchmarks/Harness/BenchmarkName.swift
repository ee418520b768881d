internal import Push

/// What is measured, in the order of the report.
enum BenchmarkName: String, CaseIterable {
    case copy1 = "copy-1"
    case copy4 = "copy-4"
    case encrypt1 = "encrypt-1"
    case encrypt4 = "encrypt-4"
    case drain
    case dispatch
    case dispatchTen = "dispatch-ten"
    case dispatchHanging = "dispatch-hanging"
    case replay
    case waiting
    case seal
    case lookup

    var summary: String {
        switch self {
        case .copy1: "trigger events in, one prebuilt record each out, in transactions"
        case .copy4: "the same with four records each"
        case .encrypt1: "the encrypt lane with one pusher an event; against copy-1"
        case .encrypt4: "the encrypt lane with four pushers an event; against copy-4"
        case .drain: "notifications in, nothing out"
        case .dispatch: "the dispatch lane into a gateway that answers at once; against drain"
        case .dispatchTen: "the dispatch lane into ten such gateways; what nine of them get"
        case .dispatchHanging: "the same while the tenth never answers; against dispatch-ten"
        case .replay: "100,000 dead letters sent again at no set rate"
        case .waiting:
            "the dispatch lane with all notifications in retry topics, their gateway down; for its memory"
        case .seal: "1024 bytes under a new key, and their Base64"
        case .lookup: "the encrypt lane's query, in batches of 1000 events with four pushers"
        }
    }

    /// What it is compared with.
    var baseline: BenchmarkName? {
        switch self {
        case .encrypt1: .copy1
        case .encrypt4: .copy4
        case .dispatch: .drain
        case .dispatchHanging: .dispatchTen
        case .copy1, .copy4, .drain, .dispatchTen, .replay, .waiting, .seal, .lookup: nil
        }
    }

    /// Who is registered in its database, and whose events it reads or pushers it looks up.
    var population: Population {
        switch self {
        case .copy1, .encrypt1: .one
        case .copy4, .encrypt4, .drain, .dispatch, .dispatchTen, .dispatchHanging, .replay, .waiting, .seal,
            .lookup:
            .four
        }
    }

    /// What it reads, if that is written beforehand and no trigger events.
    var stock: Stock? {
        switch self {
        case .dispatchTen, .dispatchHanging: .mixed
        case .replay: .letters
        case .waiting: .waiting
        case .copy1, .copy4, .encrypt1, .encrypt4, .drain, .dispatch, .seal, .lookup: nil
        }
    }

    /// The topics that it reads from.
    var topics: TopicCatalogue { stock?.topics ?? population.topics }

    var needsKafka: Bool { self != .seal && self != .lookup }

    /// Whether it reads trigger events, or what was made of them.
    var needsEvents: Bool { needsKafka && stock == nil }

    var needsDatabase: Bool {
        switch self {
        case .encrypt1, .encrypt4, .dispatch, .dispatchTen, .dispatchHanging, .replay, .waiting, .lookup: true
        // Reads what ``encrypt4`` has written, which needs one.
        case .drain: true
        case .copy1, .copy4, .seal: false
        }
    }

    /// Whether it reads what ``encrypt4`` has written.
    var readsNotifications: Bool { self == .drain || self == .dispatch }

    /// Whether once is enough: what counts is how high its memory goes, which takes long and is the same every time.
    var isMeasuredOnce: Bool { self == .waiting }

    /// How many of ``GatewayRow``'s gateways are there, and how many of these never answer.
    var gateways: (count: Int, hanging: Int) {
        switch self {
        case .dispatch: (1, 0)
        case .dispatchTen: (GatewayRow.count, 0)
        case .dispatchHanging: (GatewayRow.count, 1)
        case .copy1, .copy4, .encrypt1, .encrypt4, .drain, .replay, .waiting, .seal, .lookup: (0, 0)
        }
    }

    var measure: (Assignment) throws -> Measurement {
        switch self {
        case .copy1, .copy4: CopyBenchmark.measure
        case .encrypt1, .encrypt4: EncryptBenchmark.measure
        case .drain: DrainBenchmark.measure
        case .dispatch, .dispatchTen, .dispatchHanging: DispatchBenchmark.measure
        case .replay: ReplayBenchmark.measure
        case .waiting: WaitingBenchmark.measure
        case .seal: SealBenchmark.measure
        case .lookup: LookupBenchmark.measure
        }
    }
}
