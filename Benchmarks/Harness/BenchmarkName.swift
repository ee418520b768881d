/// What is measured, in the order of the report.
enum BenchmarkName: String, CaseIterable {
    case copy1 = "copy-1"
    case copy4 = "copy-4"
    case encrypt1 = "encrypt-1"
    case encrypt4 = "encrypt-4"
    case drain
    case dispatch
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
        case .copy1, .copy4, .drain, .seal, .lookup: nil
        }
    }

    /// Whose events it reads, or whose pushers it looks up.
    var population: Population {
        switch self {
        case .copy1, .encrypt1: .one
        case .copy4, .encrypt4, .drain, .dispatch, .seal, .lookup: .four
        }
    }

    var needsKafka: Bool { self != .seal && self != .lookup }

    var needsDatabase: Bool { [.encrypt1, .encrypt4, .dispatch, .lookup].contains(self) }

    /// Whether it reads what ``encrypt4`` has written.
    var readsNotifications: Bool { self == .drain || self == .dispatch }

    var measure: (Assignment) throws -> Measurement {
        switch self {
        case .copy1, .copy4: CopyBenchmark.measure
        case .encrypt1, .encrypt4: EncryptBenchmark.measure
        case .drain: DrainBenchmark.measure
        case .dispatch: DispatchBenchmark.measure
        case .seal: SealBenchmark.measure
        case .lookup: LookupBenchmark.measure
        }
    }
}
