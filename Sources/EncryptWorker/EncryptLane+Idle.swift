internal import Kafka
internal import Lanes
internal import Telemetry

/// What a lane does once a second, and when it has nothing else to do.
extension EncryptLane {
    private static let interval: Int64 = 1_000_000_000

    mutating func lookAround(isIdle: Bool) throws(EncryptError) {
        let now = Monotonic.now()
        guard now - lookedAround > Self.interval else { return }
        lookedAround = now
        showLag()
        if isIdle { try commitMarkers() }
    }

    private func showLag() {
        guard let places = try? consumer.assignment(), let lag = try? consumer.lag(places) else { return }
        metrics.lag(ofLane: context.index)?.set(Int(lag.values.reduce(0, +)))
    }

    /// Commits past the markers of transactions that lie behind the last record of a partition.
    ///
    /// Nobody is handed a marker, so no batch moves past it, and a group that has done all its work would look behind for ever: after a
    /// replay, for instance, which writes in transactions. Only where all that was handed out since the assignment is committed: after a
    /// seek the position still is the one from before it.
    private mutating func commitMarkers() throws(EncryptError) {
        guard !settled.isEmpty, let positions = try? consumer.position(Array(settled.keys)) else { return }
        let beyond = settled.compactMap { place, offset in
            positions[place].flatMap { $0 > offset ? TopicPartitionOffset(place, offset: $0) : nil }
        }
        guard !beyond.isEmpty else { return }
        try begin()
        try commit(beyond)
        // If it did not work before, no record may come that shows that it does again.
        pause = .zero
        context.ready()
    }
}
