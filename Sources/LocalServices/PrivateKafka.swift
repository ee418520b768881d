internal import Glibc
internal import Synchronization

/// A real Apache Kafka of this process's own: one node in KRaft mode on loopback, in a temporary folder.
///
/// For tests and benchmarks of what only a real broker shows: transactions, fencing, rebalancing, restarts.
package final class PrivateKafka: Sendable {
    private let home: String
    private let folder: TemporaryFolder
    private let port: UInt16
    private let guardedPort: UInt16
    private let broker = Mutex<ChildProcess?>(nil)

    /// Formats a log folder and starts the broker; takes about four seconds.
    ///
    /// - Parameters:
    ///   - home: a folder laid out as Apache's release (`libs/*.jar`).
    ///   - accounts: names and passwords of who logs in by SASL/PLAIN at ``guardedServers``, where each has the rights that it was given and
    ///     no others; everybody may do everything at ``bootstrapServers``. None: nobody logs in, and rights are not looked at.
    /// - Throws: ``LocalServicesError`` when Java is missing or the broker does not start.
    package init(home: String, accounts: [String: String] = [:]) throws(LocalServicesError) {
        self.home = home
        folder = try TemporaryFolder(prefix: "posthorn-kafka")
        port = try FreePort.pick()
        guardedPort = try FreePort.pick()
        let controller = try FreePort.pick()
        try Files.write(
            properties(controller: controller, accounts),
            to: "\(folder.path)/server.properties"
        )
        try Files.write(PrivateKafka.logging, to: "\(folder.path)/log4j2.properties")
        let status = try ChildProcess.run(
            java([
                "kafka.tools.StorageTool", "format", "--cluster-id", "cG9zdGhvcm4tbG9jYWwtMQ",
                "--config", "\(folder.path)/server.properties",
            ])
        )
        guard status == .exited(0) else {
            throw .notReady(service: "Kafka's storage tool", log: Files.tail(log))
        }
        try start()
    }

    deinit { stop() }

    package var bootstrapServers: String { "127.0.0.1:\(port)" }

    /// Where accounts log in, if there are any.
    package var guardedServers: String { "127.0.0.1:\(guardedPort)" }

    package var isRunning: Bool { broker.withLock { $0?.isRunning ?? false } }

    /// Sends a signal to the broker, such as one that makes it stand still.
    package func signal(_ signal: Int32) { broker.withLock { $0?.signal(signal) } }

    /// Starts a stopped broker again on the same port with the data that it holds.
    package func start() throws(LocalServicesError) {
        let child = try ChildProcess(java(["kafka.Kafka", "\(folder.path)/server.properties"]))
        broker.withLock { $0 = child }
        let deadline = ContinuousClock.now + .seconds(90)
        while !FreePort.accepts(port) {
            guard child.isRunning && ContinuousClock.now < deadline else {
                throw .notReady(service: "Kafka", log: Files.tail(log))
            }
            _ = child.wait(upTo: .milliseconds(50))
        }
    }

    /// Ends the broker in an orderly way, or as a power cut.
    package func stop(abruptly: Bool = false) {
        let child = broker.withLock { broker in
            defer { broker = nil }
            return broker
        }
        _ = child?.stop(abruptly ? SIGKILL : SIGTERM, grace: .seconds(40))
    }

    /// Runs one of Kafka's own command-line classes, an independent witness of what is in the broker.
    ///
    /// - Returns: its exit status and what it wrote to standard output.
    package func tool(
        _ name: String,
        _ arguments: [String]
    ) throws(LocalServicesError) -> (ChildProcess.Status, String) {
        let scratch = try TemporaryFolder(prefix: "posthorn-tool")
        var command = java([name, "--bootstrap-server", bootstrapServers] + arguments)
        command.output = .files(output: "\(scratch.path)/out", error: "\(scratch.path)/err")
        let status = try ChildProcess.run(command)
        return (status, String(decoding: Files.read("\(scratch.path)/out") ?? [], as: UTF8.self))
    }

    private var log: String { "\(folder.path)/kafka.log" }

    private func java(_ arguments: [String]) -> ChildProcess.Command {
        var command = ChildProcess.Command(
            "java",
            [
                "-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
                "-Dlog4j2.configurationFile=file:\(folder.path)/log4j2.properties", "-cp", "\(home)/libs/*",
            ] + arguments
        )
        command.output = .file(log)
        return command
    }

    private func properties(controller: UInt16, _ accounts: [String: String]) -> String {
        let open = "PLAINTEXT://127.0.0.1:\(port)"
        let listeners = accounts.isEmpty ? open : "\(open),SASL_PLAINTEXT://\(guardedServers)"
        return """
            process.roles=broker,controller
            node.id=1
            controller.quorum.voters=1@127.0.0.1:\(controller)
            listeners=\(listeners),CONTROLLER://127.0.0.1:\(controller)
            advertised.listeners=\(listeners)
            listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT
            controller.listener.names=CONTROLLER
            \(guarding(accounts))
            log.dirs=\(folder.path)/data
            auto.create.topics.enable=false
            offsets.topic.replication.factor=1
            offsets.topic.num.partitions=4
            transaction.state.log.replication.factor=1
            transaction.state.log.min.isr=1
            transaction.state.log.num.partitions=4
            group.initial.rebalance.delay.ms=0
            group.min.session.timeout.ms=1000
            num.network.threads=2
            num.io.threads=4

            """
    }

    /// Who does not log in is everybody's superior here: the tests' own tools.
    private func guarding(_ accounts: [String: String]) -> String {
        if accounts.isEmpty { return "" }
        let users = accounts.map { " user_\($0.key)=\"\($0.value)\"" }.joined()
        let module = "org.apache.kafka.common.security.plain.PlainLoginModule required"
        return """
            sasl.enabled.mechanisms=PLAIN
            listener.name.sasl_plaintext.plain.sasl.jaas.config=\(module)\(users);
            authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
            super.users=User:ANONYMOUS
            """
    }

    private static let logging = """
        status=warn
        appender.c.type=Console
        appender.c.name=C
        appender.c.layout.type=PatternLayout
        appender.c.layout.pattern=%d{HH:mm:ss.SSS} %p %c{1}: %m%n
        rootLogger.level=warn
        rootLogger.appenderRef.c.ref=C

        """
}
