import Testing

@testable import Kafka

@Suite
struct ConfigurationTests {
    @Test(arguments: [
        ("no.such.property", "x"), ("linger.ms", "many"), ("compression.codec", "rar"),
        ("socket.keepalive.enable", "perhaps"), ("rebalance_cb", "x"), ("enabled_events", "255"),
        ("partition.assignment.strategy", "range,cooperative-sticky"),
    ])
    func `a property that is refused is named`(property: String, value: String) throws {
        let configuration = Configuration([property: value, "bootstrap.servers": "127.0.0.1:1"])
        let error = #expect(throws: KafkaError.self) { _ = try Producer(configuration) }
        guard case .property(let name, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(name == property)
        #expect(error?.isRetriable == false)
        #expect(error?.description.contains(property) == true)
    }

    @Test
    func `all faults are told at once`() {
        let configuration = Configuration([
            "linger.ms": "many", "bootstrap.servers": "127.0.0.1:1", "no.such.property": "x",
        ])
        #expect(configuration.faults().count == 2)
        #expect(Configuration(["linger.ms": "5", "sasl.mechanisms": "PLAIN"]).faults().isEmpty)
    }

    @Test(arguments: [
        [
            "sasl.password": "correct-horse", "security.protocol": "sasl_ssl",
            "sasl.mechanisms": "nonsense-mechanism",
        ],
        ["ssl.key.pem": "correct-horse", "security.protocol": "ssl"],
        [
            "ssl.keystore.password": "correct-horse", "ssl.keystore.location": "/correct-horse",
            "security.protocol": "ssl",
        ],
    ])
    func `a secret is in no error and no description`(properties: [String: String]) {
        let configuration = Configuration(properties)
        #expect(
            !configuration.description.contains("correct-horse") || properties["ssl.keystore.location"] != nil
        )
        let error = #expect(throws: KafkaError.self) { _ = try Producer(configuration) }
        #expect(error?.description.contains("correct-horse") == false, "\(String(describing: error))")
    }

    @Test
    func `a consumer without a group is refused by name`() {
        let error = #expect(throws: KafkaError.self) { _ = try Consumer(Configuration()) }
        guard case .property("group.id", _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test
    func `an oauth configuration that librdkafka quotes is withheld`() {
        let text = "Unrecognized sasl.oauthbearer.config beginning at: topsecret"
        #expect(!Redaction().scrub(text).contains("topsecret"))
        #expect(Redaction(secrets: ["hunter22"]).scrub("a hunter22 b") == "a redacted b")
    }
}
