internal import Lanes

/// One thread of the demonstration with a flag of its own, so that the parts can be stopped in the order of an event's way.
///
/// It never outlives its owner: one that was not ended in order is ended when this goes.
struct Team<Failure: Error & CustomStringConvertible>: ~Copyable {
    let name: String
    private let stop: StopFlag
    private let group: LaneGroup<Void, Failure>
    private var isOver = false

    /// Starts the thread.
    init(_ name: String, body: @escaping LaneGroup<Void, Failure>.Body) throws(LaneError) {
        let stop = try StopFlag()
        let group = try LaneGroup<Void, Failure>(
            LaneStatus.lanes(named: name, count: 1),
            policy: .stopOthers,
            stop: stop,
            body: body
        )
        self.name = name
        self.stop = stop
        self.group = group
    }

    deinit {
        if isOver { return }
        stop.raise()
        _ = group.join(within: .seconds(10))
    }

    var condition: LaneStatus.Condition { group.statuses[0].condition }

    var phase: LaneStatus.Phase { group.statuses[0].phase }

    /// Tells it to stop, and waits for nothing.
    func beginEnd() { stop.raise() }

    /// Stops it and waits until it has.
    ///
    /// - Throws: ``DemoError/failed(part:reason:)`` if it had failed, or does not end within `limit`.
    mutating func end(within limit: Duration = .seconds(20)) throws(DemoError) {
        guard !isOver else { return }
        isOver = true
        stop.raise()
        switch group.join(within: limit)[0] {
        case .finished: return
        case .failed(let error): throw .failed(part: name, reason: error.description)
        case .unfinished: throw .failed(part: name, reason: "it does not stop")
        }
    }
}
