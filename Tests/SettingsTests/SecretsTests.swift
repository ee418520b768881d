import Testing

@testable import Settings

struct SecretsTests {
    private static let environment = [
        "POSTHORN_KAFKA_BOOTSTRAP_SERVERS": "broker:9092",
        "POSTHORN_DATABASE_URL": "postgresql://user:hunter2@host/db",
        "POSTHORN_KAFKA_SASL_USERNAME": "someone",
        "POSTHORN_KAFKA_SSL_CA_LOCATION": "/etc/ca.pem",
    ]

    @Test func `a secret prints as redacted in every way there is`() {
        let secret = Secret("hunter2")
        var dumped = ""
        dump(secret, to: &dumped)
        let texts = [
            "\(secret)", String(describing: secret), String(reflecting: secret), "\([secret])", dumped,
        ]
        #expect(texts.allSatisfy { $0.contains("redacted") && !$0.contains("hunter2") })
        #expect(secret.reveal() == "hunter2")
    }

    @Test func `neither listing nor faults show a secret`() throws {
        let values = try Example.resolve(Example.encrypt, environment: Self.environment)
        #expect(values[Example.database].reveal() == "postgresql://user:hunter2@host/db")
        #expect(values.listing.map(\.name) == ["bootstrap-servers", "kafka", "database-url"])
        #expect(values.listing.map(\.value) == ["broker:9092", "redacted", "redacted"])
        let faults = Example.faults(
            Example.encrypt,
            ["--bootstrap-servers=a", "--kafka", "hunter2"],
            environment: ["POSTHORN_DATABASE_URL": "mysql://hunter2"]
        )
        #expect(
            faults == [
                "--kafka: is not a NAME=VALUE",
                "--database-url, from POSTHORN_DATABASE_URL: is not a URL that begins with postgresql://",
            ]
        )
    }

    @Test func `variables of the family become properties with dots, but not the options' own`() throws {
        let values = try Example.resolve(Example.encrypt, environment: Self.environment)
        let properties = values[Example.kafka].mapValues { $0.reveal() }
        #expect(properties == ["sasl.username": "someone", "ssl.ca.location": "/etc/ca.pem"])
        #expect(values.warnings == [])
    }

    @Test func `properties of the command line win over the environment, and it over the file`() throws {
        var environment = Self.environment
        environment["POSTHORN_CONFIG"] = "settings"
        let values = try Example.resolve(
            Example.encrypt,
            ["--kafka", "sasl.username=a=b", "--kafka=linger.ms=5"],
            environment: environment,
            file:
                "POSTHORN_KAFKA_SSL_CA_LOCATION=/other.pem\nPOSTHORN_KAFKA_LINGER_MS=7\nPOSTHORN_KAFKA_ACKS=all\n"
        )
        let properties = values[Example.kafka].mapValues { $0.reveal() }
        #expect(
            properties == [
                "sasl.username": "a=b", "ssl.ca.location": "/etc/ca.pem", "linger.ms": "5", "acks": "all",
            ]
        )
    }
}
