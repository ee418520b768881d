package import Device
package import Intake

/// What keeps a demonstration from coming to its end.
///
/// Loss is none: it is a result, and told in the ``DemoSummary``.
package enum DemoError: Error, Sendable {
    /// A signal came before the first event.
    case interrupted
    /// A part of it was not ready in time; `reason` is the lane's own code.
    case notReady(part: String, reason: String)
    /// A lane ended with an error.
    case failed(part: String, reason: String)
    /// The broker did not take an event.
    case notPublished(PublishError)
    /// The devices' keys could not be made.
    case devices(OpenError)
    /// A topic could not be made on the broker that was named.
    case topic(name: String, reason: String)

    package var isRetriable: Bool {
        switch self {
        case .interrupted, .notReady: true
        case .failed, .topic: false
        case .notPublished(let error): error.isRetriable
        case .devices(let error): error.isRetriable
        }
    }
}

extension DemoError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .interrupted: "stopped before the first event"
        case .notReady(let part, let reason): "\(part) did not get ready: \(reason)"
        case .failed(let part, let reason): "\(part) failed: \(reason)"
        case .notPublished(let error): "an event was not published: \(error)"
        case .devices(let error): "the devices have no keys: \(error)"
        case .topic(let name, let reason): "the topic \(name) could not be made: \(reason)"
        }
    }
}
