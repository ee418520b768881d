/// One node of a ``PrivateKafka``: where it is, and what its `server.properties` says.
struct KafkaNode: Sendable {
    /// From 1; the first one is the controller too.
    let id: Int
    let folder: String
    let port: UInt16
    let guardedPort: UInt16
    let controllerPort: UInt16
    var brokers = 1
    var accounts: [String: String] = [:]
    var settings: [String: String] = [:]

    init(id: Int, folder: String, port: UInt16, guardedPort: UInt16, controllerPort: UInt16) {
        self.id = id
        self.folder = folder
        self.port = port
        self.guardedPort = guardedPort
        self.controllerPort = controllerPort
    }

    var address: String { "127.0.0.1:\(port)" }
    var guardedAddress: String { "127.0.0.1:\(guardedPort)" }
    var file: String { "\(folder)/server.properties" }

    var properties: String {
        let all = basics.merging(topics) { $1 }.merging(guarding) { $1 }.merging(settings) { $1 }
        return all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)\n" }.joined()
    }

    private var basics: [String: String] {
        let isController = id == 1
        let open = "PLAINTEXT://\(address)"
        let listeners = accounts.isEmpty ? open : "\(open),SASL_PLAINTEXT://\(guardedAddress)"
        return [
            "process.roles": isController ? "broker,controller" : "broker", "node.id": "\(id)",
            "controller.quorum.voters": "1@127.0.0.1:\(controllerPort)",
            "listeners": listeners + (isController ? ",CONTROLLER://127.0.0.1:\(controllerPort)" : ""),
            "advertised.listeners": listeners, "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map":
                "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",
            "log.dirs": "\(folder)/data", "group.initial.rebalance.delay.ms": "0",
            "group.min.session.timeout.ms": "1000", "num.network.threads": "2", "num.io.threads": "4",
        ]
    }

    /// With several brokers one of them may go, and what is committed stays.
    private var topics: [String: String] {
        let copies = "\(brokers)"
        let inSync = "\(max(1, brokers - 1))"
        return [
            "auto.create.topics.enable": "false", "default.replication.factor": copies,
            "min.insync.replicas": inSync, "offsets.topic.replication.factor": copies,
            "offsets.topic.num.partitions": "4", "transaction.state.log.replication.factor": copies,
            "transaction.state.log.min.isr": inSync, "transaction.state.log.num.partitions": "4",
        ]
    }

    /// Who does not log in is everybody's superior here: the tests' own tools.
    private var guarding: [String: String] {
        if accounts.isEmpty { return [:] }
        let users = accounts.map { " user_\($0.key)=\"\($0.value)\"" }.joined()
        let module = "org.apache.kafka.common.security.plain.PlainLoginModule required"
        return [
            "sasl.enabled.mechanisms": "PLAIN",
            "listener.name.sasl_plaintext.plain.sasl.jaas.config": "\(module)\(users);",
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS",
        ]
    }

    static let logging = """
        status=warn
        appender.c.type=Console
        appender.c.name=C
        appender.c.layout.type=PatternLayout
        appender.c.layout.pattern=%d{HH:mm:ss.SSS} %p %c{1}: %m%n
        rootLogger.level=warn
        rootLogger.appenderRef.c.ref=C

        """
}
