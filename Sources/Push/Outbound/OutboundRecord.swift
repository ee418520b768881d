/// A partition that a lane reads, as its engine knows it; given by ``OutboundEngine/assign()``.
///
/// The same topic's partition, revoked and assigned again, is another one: nothing that began before the revocation touches it.
package struct Partition: Hashable, Sendable {
    package let index: Int
    let generation: UInt32
}

/// A receiver with a queue, an in-flight limit and a breaker of its own: an endpoint in one format.
///
/// Numbers are small and dense, so that the caller's own table about destinations can be an array.
package struct Destination: Hashable, Sendable {
    package let index: Int

    /// Where records belong that are at fault before they have a destination.
    static let none = Destination(index: -1)
}

/// What names a destination: an address and how one speaks to it.
package struct DestinationKey: Hashable, Sendable {
    /// UTF-8, as the record carries it.
    package var address: [UInt8]
    /// The caller's number for the format: batches are of one format.
    package var format: UInt8

    package init(address: [UInt8], format: UInt8) {
        self.address = address
        self.format = format
    }
}

/// What the engine needs to know of a record; the payload goes beside it.
package struct OutboundRecord: Hashable, Sendable {
    package var partition: Partition
    package var offset: Int64
    package var destination: Destination
    /// By which the answer names it.
    ///
    /// Two records with the same id never share a batch.
    package var id: NotificationID
    /// What its item takes in a request, without the framing of ``BatchLimits``.
    package var byteCount: Int
    /// What it takes in memory.
    package var footprint: Int
    package var expires: Timestamp
    /// How often it was tried before, as its headers say.
    package var attempts: Int
    /// How often it was handed to a retry topic before.
    package var handOvers: Int
    /// Before this moment its receiver does not want it.
    package var notBefore: Timestamp?

    package init(
        partition: Partition,
        offset: Int64,
        destination: Destination,
        id: NotificationID,
        byteCount: Int,
        footprint: Int? = nil,
        expires: Timestamp,
        attempts: Int = 0,
        handOvers: Int = 0,
        notBefore: Timestamp? = nil
    ) {
        self.partition = partition
        self.offset = offset
        self.destination = destination
        self.id = id
        self.byteCount = max(byteCount, 0)
        self.footprint = max(footprint ?? byteCount, 0)
        self.expires = expires
        self.attempts = max(attempts, 0)
        self.handOvers = max(handOvers, 0)
        self.notBefore = notBefore
    }
}

/// What is remembered of a record's failures in this lane: when the first was, and how the last one looked.
package struct FailureNote: Hashable, Sendable {
    /// The raw value of a ``TransientCause``, ``DestinationFault`` or ``DeadLetterReason``.
    package var cause: String
    /// The HTTP status, if there was an answer.
    package var status: Int?
    /// What the receiver said, bounded and free of secrets by whoever read it.
    package var detail: String
    package var firstFailedAt: Timestamp
    package var lastFailedAt: Timestamp
}

/// A record that is not tried again without a person.
package struct DeadLetter: Hashable, Sendable {
    package var reason: DeadLetterReason
    /// How often it was tried, earlier lanes included.
    package var attempts: Int
    /// Nil if nothing failed before: expired unsent, or larger than a request.
    package var note: FailureNote?
}

/// A record on its way to a retry topic.
package struct HandOver: Hashable, Sendable {
    /// The index in ``RetrySchedule/delays``.
    package var step: Int
    /// Not to be tried before this moment.
    package var due: Timestamp
    /// The receiver asked for more time than until then; what comes due before is handed over again without an attempt.
    package var notBefore: Timestamp?
    /// How often it was tried.
    package var attempts: Int
    /// How often it was handed over, this time included.
    package var handOvers: Int
    package var note: FailureNote
}
