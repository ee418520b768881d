/// The bounds of one engine.
///
/// Every queue has one.
package struct OutboundSettings: Hashable, Sendable {
    /// Where a transient failure goes.
    package var transient = TransientPolicy.inLane(Backoff())
    /// Records held at once; at this many, reading stops, and goes on at half.
    package var maximumRecords = 10_000
    /// Bytes of memory held at once, likewise.
    ///
    /// Passed by no more than what one poll brings.
    package var maximumBytes = 48 * 1024 * 1024
    /// Records held for one destination.
    ///
    /// Beyond it reading stops; with retry topics only for ``patience``, then its new records go there.
    package var maximumRecordsPerDestination = 4_000
    /// Batches under way at once, to all destinations.
    package var maximumBatches = 256
    /// Destinations known at once; the idle ones are forgotten first.
    package var maximumDestinations = 10_000
    /// How far a partition may be read past its first record that has not ended.
    package var offsetWindow = 100_000
    /// How long a request may keep a partition from being read that was read so far; then it is called back.
    ///
    /// Only with retry topics.
    package var recallAge: Duration = .seconds(2)
    package var inFlight = InFlightLimit.Settings()
    package var breaker = Breaker.Settings()
    /// How long a destination may hold up others before its new records are shed.
    ///
    /// Only with retry topics.
    package var patience: Duration = .milliseconds(500)
    /// A destination's pauses up to this are waited for; for longer ones its records are shed.
    ///
    /// Only with retry topics.
    package var waitablePause: Duration = .seconds(2)
    /// How long to wait before a dead letter or a hand-over that could not be written is tried again.
    package var confirmationPause: Duration = .seconds(1)

    package init() {}
}

/// What an engine has seen; only ever counted up.
package struct OutboundCounters: Hashable, Sendable {
    package var enqueued = 0
    /// Not above the partition's last offset, or of a partition or destination that is gone; not taken.
    package var refusedRecords = 0
    package var batches = 0
    package var probes = 0
    package var accepted = 0
    package var rejected = 0
    package var transient = 0
    package var faulty = 0
    /// Batches refused as a whole.
    package var refusedBatches = 0
    package var unreadableAnswers = 0
    /// Results for ids that were not in the batch.
    package var unknownIDs = 0
    /// Items without a result.
    package var missingResults = 0
    package var contradictoryResults = 0
    /// Handed over without an attempt.
    package var shed = 0
    package var handedOver = 0
    package var deadLettered = 0
    package var expired = 0
    /// Writes that failed and were asked for again.
    package var unconfirmed = 0
    /// Given back unfinished, by revocation or drain.
    package var givenBack = 0
    /// Completions of batches that the engine does not know.
    package var unknownBatches = 0

    package init() {}
}
