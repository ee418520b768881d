/// What is demonstrated.
package struct DemoSettings: Sendable {
    /// Devices that register, from 1 to 100,000.
    package var devices = 1000
    /// Events that are published, from 1 to 1,000,000.
    package var events = 5000
    /// Events a second, at most.
    package var rate = 1000
    /// Properties of librdkafka for all clients; with `bootstrap.servers` among them that broker is used instead of the mock cluster.
    package var kafka: [String: String] = [:]

    /// How long a part may take to get ready.
    package var startLimit: Duration = .seconds(60)
    /// How long nothing may arrive, with something under way, before that counts as lost.
    package var patience: Duration = .seconds(30)
    /// The same once a signal has come.
    package var patienceAfterSignal: Duration = .seconds(5)

    package init() {}
}
