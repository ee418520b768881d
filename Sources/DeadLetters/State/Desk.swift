package import Kafka
package import Postgres
package import Push

/// What every command about dead letters works with, and what the ones that change something do first.
package struct Desk: Sendable {
    package let topics: TopicCatalogue
    package let kafka: Kafka.Configuration
    /// Who is asking; written down with everything that is done.
    package let `operator`: String
    package let lease: Duration

    package init(
        topics: TopicCatalogue,
        kafka: Kafka.Configuration,
        operator name: String,
        lease: Duration = TopicLock.defaultLease
    ) {
        self.topics = topics
        self.kafka = kafka
        self.operator = name
        self.lease = lease
    }

    package func source(_ kind: LetterSource.Kind) -> LetterSource { LetterSource(kind, of: topics) }

    /// A topic as it is now, for who only looks.
    package func look(
        at source: LetterSource,
        in connection: inout Connection
    ) throws(DeadLettersError) -> (bounds: TopicBounds, book: LetterBook) {
        let bounds = try bounds(of: source.topic)
        return (bounds, try LetterBook.load(bounds, from: &connection))
    }

    func bounds(of topic: String) throws(DeadLettersError) -> TopicBounds {
        try TopicBounds.now(of: topic, admin())
    }

    func admin() throws(DeadLettersError) -> Admin {
        do throws(KafkaError) { return try Admin(kafka) } catch { throw .kafka(error) }
    }

    package func scan(
        _ source: LetterSource,
        in connection: inout Connection
    ) throws(DeadLettersError) -> LetterScan {
        try LetterScan(source, kafka, try Pseudonyms(from: &connection))
    }

    /// A topic whose lock this process holds.
    struct Held {
        let lock: TopicLock
        let bounds: TopicBounds
        let book: LetterBook
    }

    /// Holds a topic's lock while `body` works on it.
    ///
    /// What a killed replay left under way is decided first, so that the book is right. The lock is given back whatever happens.
    func holding<R: ~Copyable>(
        _ source: LetterSource,
        for purpose: String,
        in connection: inout Connection,
        _ body: (Held, inout Connection) throws(DeadLettersError) -> R
    ) throws(DeadLettersError) -> R {
        try awaken(&connection)
        let lock = try TopicLock.take(
            source.topic,
            operator: self.operator,
            purpose: purpose,
            lease: lease,
            in: &connection
        )
        do throws(DeadLettersError) {
            let bounds = try bounds(of: source.topic)
            try LetterBook.load(bounds, from: &connection).settle(bounds, in: &connection)
            try resolve(source, in: &connection)
            let book = try LetterBook.load(bounds, from: &connection)
            let result = try body(Held(lock: lock, bounds: bounds, book: book), &connection)
            give(lock, back: &connection)
            return result
        } catch {
            give(lock, back: &connection)
            throw error
        }
    }

    /// Somebody may have thought for a long time about what he was asked, and the session be gone without a word yet.
    private func awaken(_ connection: inout Connection) throws(DeadLettersError) {
        try database { () throws(PostgresError) in
            try connection.ensureConnected(within: .seconds(5))
            do throws(PostgresError) {
                try connection.execute("SELECT 1")
            } catch {
                guard error.kind == .connectionLost else { throw error }
                try connection.ensureConnected(within: .seconds(5))
            }
        }
    }

    /// What was done stands and is told, also where the database has gone meanwhile; the lock then ends by itself.
    private func give(_ lock: TopicLock, back connection: inout Connection) {
        try? connection.ensureConnected(within: .seconds(1))
        try? lock.release(in: &connection)
    }

    /// Decides the steps that killed replays left under way: in force if Kafka has committed them, else void.
    private func resolve(
        _ source: LetterSource,
        in connection: inout Connection
    ) throws(DeadLettersError) {
        var isFenced = false
        for replay in try ReplayBook.unfinished(source.topic, in: &connection) {
            let pending = replay.progress.compactMap { partition, progress in
                progress.pending.flatMap { $0 > progress.next ? (partition, $0) : nil }
            }
            guard let (partition, end) = pending.first else { continue }
            if !isFenced {
                // Ends the transaction that the killed process left open, one way or the other.
                _ = try StepWriter(source, kafka)
                isFenced = true
            }
            let place = TopicPartition(source.topic, partition)
            let committed = try Self.committed(place, group: replay.group, kafka)
            let id = replay.id
            try connection.transaction(attempts: 5) {
                (connection: inout Connection) throws(DeadLettersError) in
                try database { () throws(PostgresError) in
                    if let committed, committed >= end {
                        try ReplayBook.settle(id, in: &connection)
                    } else {
                        try ReplayBook.drop(id, in: &connection)
                    }
                }
            }
        }
    }

    private static func committed(
        _ place: TopicPartition,
        group: String,
        _ configuration: Kafka.Configuration
    ) throws(DeadLettersError) -> Int64? {
        do throws(KafkaError) {
            let reader = try Consumer(configuration.setting("group.id", group))
            return try reader.committed([place], timeout: .seconds(30))[place]
        } catch {
            throw .kafka(error)
        }
    }
}
