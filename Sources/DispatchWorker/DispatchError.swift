package import HTTPClient
package import Kafka
package import Lanes

/// What ends a lane.
///
/// None of it is the fault of a notification: what was not committed is read again by whoever comes next.
///
/// The database is not among them: without it a lane sends on by the list of gateways that it has, and keeps what it has to delete.
package enum DispatchError: Error {
    case kafka(KafkaError)
    case http(ClientError)
    case system(LaneError)

    package var isRetriable: Bool {
        switch self {
        case .kafka(let error): !error.isFatal
        case .http, .system: false
        }
    }
}

extension DispatchError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .kafka(let error): "Kafka: \(error)"
        case .http(let error): "HTTP: \(error)"
        case .system(let error): "system: \(error)"
        }
    }
}
