internal import DispatchWorker
internal import EncryptWorker
internal import Kafka
internal import Lanes
internal import Telemetry

/// The two lanes, exactly as the commands `encrypt` and `dispatch` run them.
///
/// One of each: the mock cluster forgets offsets that come with a transaction, so a second encrypt lane would make the first one's successor
/// read everything again.
struct Workers: ~Copyable {
    let encryptMetrics: EncryptMetrics
    let dispatchMetrics: DispatchMetrics
    var encrypt: Team<EncryptError>
    var dispatch: Team<DispatchError>

    init(_ services: borrowing Services, log: Log) throws {
        let registry = Registry()
        let encryptMetrics = EncryptMetrics(registry, lanes: 1)
        let dispatchMetrics = DispatchMetrics(registry, lanes: 1)
        var encryptSettings = EncryptSettings(
            kafka: services.broker.kafka,
            database: services.database,
            keyFile: services.keyFile,
            instance: "demo"
        )
        encryptSettings.topics = services.broker.topics
        encryptSettings.zone = Services.zone
        var dispatchSettings = DispatchSettings(
            kafka: services.broker.kafka,
            database: services.database
        )
        dispatchSettings.topics = services.broker.topics
        dispatchSettings.instance = "demo"
        dispatchSettings.drainTimeout = .seconds(5)
        dispatchSettings.asksForTopicSettings = services.broker.isReal
        let encrypt = try Team<EncryptError>("encrypt") { [encryptSettings] context throws(EncryptError) in
            try EncryptLane.run(encryptSettings, context: context, metrics: encryptMetrics, log: log)
        }
        let dispatch = try Team<DispatchError>("dispatch") {
            [dispatchSettings] context throws(DispatchError) in
            try DispatchLane.run(dispatchSettings, context: context, metrics: dispatchMetrics, log: log)
        }
        self.encrypt = encrypt
        self.dispatch = dispatch
        self.encryptMetrics = encryptMetrics
        self.dispatchMetrics = dispatchMetrics
    }

    /// Whether both have their partitions.
    var areReady: Bool { encrypt.condition == .ready && dispatch.condition == .ready }

    /// What keeps them from being ready.
    var complaint: DemoError {
        func reason(_ condition: LaneStatus.Condition) -> String? {
            if case .notReady(let reason) = condition { reason } else { nil }
        }
        if let reason = reason(encrypt.condition) { return .notReady(part: encrypt.name, reason: reason) }
        return .notReady(part: dispatch.name, reason: reason(dispatch.condition) ?? "unknown")
    }

    /// Throws what a failed lane had to say.
    mutating func check() throws(DemoError) {
        if encrypt.phase == .failed { try encrypt.end() }
        if dispatch.phase == .failed { try dispatch.end() }
    }

    /// What they have counted, beside the demonstration's own books.
    func figures(_ balance: Ledger.Balance, requests: Int, at time: Int64) -> Figures {
        let delivered = Int(clamping: dispatchMetrics.delivered.value)
        return Figures(
            time: time,
            balance: balance,
            received: Int(clamping: encryptMetrics.received.value),
            withoutSubscribers: Int(clamping: encryptMetrics.withoutSubscribers.value),
            // The lane counts what it has committed, for which the mock cluster's readers do not wait: what is delivered has been sealed.
            sealed: max(Int(clamping: encryptMetrics.notifications.value), delivered),
            chainsMoved: Int(clamping: encryptMetrics.chainsMoved.value),
            delivered: delivered,
            deadLetters: Int(clamping: dispatchMetrics.deadLettered.value),
            requests: requests
        )
    }
}
