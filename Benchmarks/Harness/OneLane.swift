internal import Lanes

/// A worker's lane as it is, on one thread of this process, for as long as a measurement takes.
enum OneLane {
    /// Runs a lane, and stops it once `measure` has seen enough.
    ///
    /// - Returns: the stretch that was measured, without the lane's draining.
    /// - Throws: what ended the lane, or the measurement.
    static func measure<Failure: Error & CustomStringConvertible>(
        named name: String,
        lane: @escaping LaneGroup<Void, Failure>.Body,
        _ measure: (StopFlag) throws -> Meter.Stretch
    ) throws -> Measurement {
        let stop = try StopFlag()
        let lanes = try LaneGroup(
            LaneStatus.lanes(named: name, count: 1),
            policy: .stopOthers,
            stop: stop,
            body: lane
        )
        let measurement = Measurement(try measure(stop))
        stop.raise()
        for case .failed(let error) in lanes.join(within: .seconds(60)) { throw error }
        return measurement
    }
}
