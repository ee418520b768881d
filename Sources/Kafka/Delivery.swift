/// How a record that was produced with an id came out.
package struct Delivery: Sendable, Equatable {
    /// What the caller gave to `produce`.
    package let id: UInt64
    package let outcome: Outcome

    package enum Outcome: Sendable, Equatable {
        /// The broker has it, as durably as `acks` asks for; in a transaction it still needs the commit.
        case written(partition: Int32, offset: Int64)
        /// It will not be tried again. `isPossiblyWritten` tells whether the broker may have it all the same.
        case failed(KafkaError, isPossiblyWritten: Bool)
    }

    package init(id: UInt64, outcome: Outcome) {
        self.id = id
        self.outcome = outcome
    }
}
