/// The retry topics and which of them a record waits in next.
///
/// A record goes up a step at every hand-over and stays on the last one; it stops at its expiry or when its attempts are used up. A
/// hand-over without an attempt (shed) goes up too, so that an outage of hours does not turn the topic of 30 seconds over and over.
package struct RetrySchedule: Hashable, Sendable {
    /// The delay of each topic, in the order of ``TopicCatalogue/retryDelays``, which should be the shortest first; never empty.
    package var delays: [Duration]
    /// How many attempts a record gets over all steps, at least 1.
    ///
    /// More than fit before the default expiry, so that an outage ends in expiry rather than in used-up attempts.
    package var maximumAttempts: Int
    /// How much longer than the delay a record may wait, as a share of it.
    package var spread: Double

    /// A schedule of `delays`, none meaning the default ones; `spread` is kept between 0 and 1.
    package init(
        delays: [Duration] = TopicCatalogue.defaultRetryDelays,
        maximumAttempts: Int = 16,
        spread: Double = 0.1
    ) {
        self.delays = delays.isEmpty ? TopicCatalogue.defaultRetryDelays : delays
        self.maximumAttempts = max(maximumAttempts, 1)
        self.spread = min(max(spread, 0), 1)
    }

    /// The topic for the next wait of a record that was handed over `handOvers` times.
    ///
    /// The step after the last one, or a later one if the destination asked for more time; an earlier one if the record would expire
    /// there. One that would expire everywhere goes to the shortest and is found expired after it: nothing is given up before its time.
    package func step(after handOvers: Int, atLeast asked: Duration, remaining: Duration) -> Int {
        var step = min(max(handOvers, 0), delays.count - 1)
        while step < delays.count - 1, delays[step] < asked { step += 1 }
        while step > 0, delays[step] >= remaining { step -= 1 }
        return step
    }

    /// How long a record waits in the topic of `step`.
    package func pause(at step: Int, jitter: inout Jitter) -> Duration {
        jitter.stretched(delays[min(max(step, 0), delays.count - 1)], by: spread)
    }
}

/// Where a record goes after a transient failure.
package enum TransientPolicy: Hashable, Sendable {
    /// It waits in the lane and holds its partition's commits; a lane that holds too much stops reading.
    case inLane(Backoff)
    /// It goes to a retry topic; so do new records for a destination that stands still or is too slow, and reading goes on.
    case retryTopic(RetrySchedule)

    var maximumAttempts: Int {
        switch self {
        case .inLane(let backoff): backoff.maximumAttempts
        case .retryTopic(let schedule): schedule.maximumAttempts
        }
    }

    var sheds: Bool {
        if case .retryTopic = self { true } else { false }
    }
}
