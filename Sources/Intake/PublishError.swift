package import Kafka
package import Push

/// Why a line was not published, or publishing ended.
///
/// Names fields, topics and codes; never content.
package enum PublishError: Error, Sendable, Equatable {
    /// The line is no event that could be sealed and sent; nothing of it was published.
    case event(TriggerEventError)
    /// The client or the broker refused.
    case kafka(KafkaError)

    /// Whether the same line may be published later.
    package var isRetriable: Bool {
        switch self {
        case .event(let error): error.isRetriable
        case .kafka(let error): error.isRetriable || error.isTimeout
        }
    }
}

extension PublishError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .event(let error): "\(error)"
        case .kafka(let error): "\(error)"
        }
    }
}
