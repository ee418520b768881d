package import Kafka
package import Postgres
package import Push
package import Sealing

/// Why something could not be done with dead letters.
///
/// Names topics, places, operators and replays; never a user, a pushkey, a key or a value.
package enum DeadLettersError: Error, Sendable, Equatable {
    /// The database refused or was away.
    case database(PostgresError)
    /// The broker refused or was away.
    case kafka(KafkaError)
    /// No digest could be made.
    case sealing(SealingError)
    /// Somebody else works on the topic's dead letters.
    case locked(topic: String, holder: LockHolder)
    /// The lock expired while this process could not renew it, and somebody else may have it.
    case lockLost(topic: String)
    /// Kafka has committed a step, and the database could not be told; whoever goes on finds it out.
    case unsettled(PostgresError?)
    case unknownReplay(String)
    /// The replay came to its end; there is nothing to go on with.
    case replayDone(String)
    /// What was stored with the replay does not read: another version of the program wrote it.
    case unreadableReplay(String, problem: String)
    case noSuchTopic(String)
    /// The topic was made anew since the replay began: its bounds mean nothing now.
    case topicRecreated(String)
    /// A partition gave nothing for too long, although there is something before its end.
    case stalled(topic: String, Duration)
    /// Plaintext is not moved to where ciphertext is kept.
    case notForPlaintext(String)

    /// Whether the same step may succeed in a moment.
    var mayPass: Bool {
        switch self {
        case .database(let error): error.isRetriable
        case .kafka(let error): !error.isFatal && !error.isUnknownTopic && !error.isDenied
        default: false
        }
    }

    /// Whether the same call may succeed later.
    package var isRetriable: Bool {
        switch self {
        case .database(let error): error.isRetriable
        case .kafka(let error): error.isRetriable || error.isTimeout
        case .sealing(let error): error.isRetriable
        case .locked, .lockLost, .stalled, .unsettled: true
        case .unknownReplay, .replayDone, .unreadableReplay, .noSuchTopic, .topicRecreated, .notForPlaintext:
            false
        }
    }
}

/// Who has a topic's lock.
package struct LockHolder: Hashable, Sendable {
    package var `operator`: String
    package var purpose: String
    package var since: Timestamp
    /// Without a sign of life it is free then.
    package var expires: Timestamp
}

extension DeadLettersError: PostgresFailure {
    package init(_ error: PostgresError) { self = .database(error) }

    package var postgresError: PostgresError? {
        switch self {
        case .database(let error): error
        case .unsettled(let error): error
        default: nil
        }
    }
}

extension DeadLettersError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .database(let error): "\(error)"
        case .kafka(let error): "\(error)"
        case .sealing(let error): "\(error)"
        case .locked(let topic, let holder):
            """
            \(holder.operator) works on \(topic) (\(holder.purpose)) since \(holder.since); without a sign of life it is free \
            at \(holder.expires)
            """
        case .lockLost(let topic): "the lock of \(topic) was lost: this process showed no life for too long"
        case .unsettled(let error):
            "the last step was done but could not be written down\(error.map { ": \($0)" } ?? "")"
        case .unknownReplay(let id): "there is no replay \(id)"
        case .replayDone(let id): "replay \(id) is done"
        case .unreadableReplay(let id, let problem):
            "what is stored of replay \(id) does not read: \(problem)"
        case .noSuchTopic(let topic): "there is no topic \(topic)"
        case .topicRecreated(let topic): "\(topic) was made anew since the replay began"
        case .stalled(let topic, let time): "\(topic) gave nothing for \(time), though its end is not reached"
        case .notForPlaintext(let what): "trigger dead letters hold plaintext: \(what)"
        }
    }
}

/// Runs `body`, its error as this room's.
func database<R: ~Copyable>(_ body: () throws(PostgresError) -> R) throws(DeadLettersError) -> R {
    do throws(PostgresError) { return try body() } catch { throw .database(error) }
}

/// Runs `body`, its error as this room's.
func kafka<R: ~Copyable>(_ body: () throws(KafkaError) -> R) throws(DeadLettersError) -> R {
    do throws(KafkaError) { return try body() } catch { throw .kafka(error) }
}

/// Runs `body`, its error as this room's.
func sealing<R: ~Copyable>(_ body: () throws(SealingError) -> R) throws(DeadLettersError) -> R {
    do throws(SealingError) { return try body() } catch { throw .sealing(error) }
}
