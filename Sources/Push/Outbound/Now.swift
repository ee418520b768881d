/// The two clocks, read once and passed in.
///
/// Waiting is done on the monotonic one, so that a step of the wall clock neither storms a gateway nor stalls a retry; expiry and
/// `Retry-After` are wall time, because senders and gateways mean that.
package struct Now: Hashable, Sendable {
    /// Time since any fixed moment, never stepping back.
    package var monotonic: Duration
    /// Wall time.
    package var wall: Timestamp

    package init(monotonic: Duration, wall: Timestamp) {
        self.monotonic = monotonic
        self.wall = wall
    }

    /// The monotonic moment at which the wall clock should show `moment`, if nobody sets it meanwhile.
    func monotonic(at moment: Timestamp) -> Duration {
        monotonic + moment.since(wall)
    }
}
