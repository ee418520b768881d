internal import Glibc
internal import Synchronization

/// A real Apache Kafka of this process's own: nodes in KRaft mode on loopback, in a temporary folder; one unless more are asked for.
///
/// For tests and benchmarks of what only a real broker shows: transactions, fencing, rebalancing, restarts, failing over.
package final class PrivateKafka: Sendable {
    private let home: String
    private let folder: TemporaryFolder
    private let nodes: [KafkaNode]
    private let running = Mutex<[Int: ChildProcess]>([:])

    /// Formats log folders and starts the brokers; one takes about four seconds.
    ///
    /// - Parameters:
    ///   - home: a folder laid out as Apache's release (`libs/*.jar`).
    ///   - brokers: how many; all but one may be away without the others losing what is committed. The first one is the controller too.
    ///   - accounts: names and passwords of who logs in by SASL/PLAIN at ``guardedServers``, where each has the rights that it was given and
    ///     no others; everybody may do everything at ``bootstrapServers``. None: nobody logs in, and rights are not looked at.
    ///   - settings: more of a broker's properties.
    /// - Throws: ``LocalServicesError`` when Java is missing or a broker does not start.
    package init(
        home: String,
        brokers: Int = 1,
        accounts: [String: String] = [:],
        settings: [String: String] = [:]
    ) throws(LocalServicesError) {
        self.home = home
        folder = try TemporaryFolder(prefix: "posthorn-kafka")
        let controller = try FreePort.pick()
        var nodes: [KafkaNode] = []
        for id in 1...max(1, brokers) {
            var node = KafkaNode(
                id: id,
                folder: "\(folder.path)/\(id)",
                port: try FreePort.pick(),
                guardedPort: try FreePort.pick(),
                controllerPort: controller
            )
            node.brokers = max(1, brokers)
            node.accounts = accounts
            node.settings = settings
            nodes.append(node)
        }
        self.nodes = nodes
        try Files.write(KafkaNode.logging, to: "\(folder.path)/log4j2.properties")
        try format()
        try start()
    }

    deinit { stop() }

    package var bootstrapServers: String { nodes.map(\.address).joined(separator: ",") }

    /// Where accounts log in, if there are any.
    package var guardedServers: String { nodes.map(\.guardedAddress).joined(separator: ",") }

    /// Whether every broker runs.
    package var isRunning: Bool {
        running.withLock { $0.count == nodes.count && $0.values.allSatisfy(\.isRunning) }
    }

    /// Sends a signal to every broker, such as one that makes it stand still.
    package func signal(_ signal: Int32) {
        running.withLock { for child in $0.values { child.signal(signal) } }
    }

    /// Starts stopped brokers again on the same ports with the data that they hold.
    package func start() throws(LocalServicesError) {
        var started: [KafkaNode] = []
        for node in nodes where running.withLock({ $0[node.id] }) == nil {
            let child = try ChildProcess(java(["kafka.Kafka", node.file]))
            running.withLock { $0[node.id] = child }
            started.append(node)
        }
        let deadline = ContinuousClock.now + .seconds(90)
        for node in started {
            guard let child = running.withLock({ $0[node.id] }) else { continue }
            while !FreePort.accepts(node.port) {
                guard child.isRunning && ContinuousClock.now < deadline else {
                    throw .notReady(service: "Kafka", log: Files.tail(log))
                }
                _ = child.wait(upTo: .milliseconds(50))
            }
        }
    }

    /// Ends the brokers in an orderly way, or as a power cut.
    package func stop(abruptly: Bool = false) {
        let children = running.withLock { running in
            defer { running.removeAll() }
            return running
        }
        // The controller last: the others ask it for leave.
        for (_, child) in children.sorted(by: { $0.key > $1.key }) { Self.stop(child, abruptly) }
    }

    /// Ends one of several brokers, counted from 1.
    package func stop(broker id: Int, abruptly: Bool = false) {
        if let child = running.withLock({ $0.removeValue(forKey: id) }) { Self.stop(child, abruptly) }
    }

    private static func stop(_ child: ChildProcess, _ abruptly: Bool) {
        _ = child.stop(abruptly ? SIGKILL : SIGTERM, grace: .seconds(40))
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

    /// Makes every node's folder, all at once.
    private func format() throws(LocalServicesError) {
        var tools: [ChildProcess] = []
        for node in nodes {
            guard unsafe mkdir(node.folder, 0o700) == 0 else { throw .system(call: "mkdir", code: errno) }
            try Files.write(node.properties, to: node.file)
            let words = ["format", "--cluster-id", "cG9zdGhvcm4tbG9jYWwtMQ", "--config", node.file]
            tools.append(try ChildProcess(java(["kafka.tools.StorageTool"] + words)))
        }
        for tool in tools where tool.wait() != .exited(0) {
            throw .notReady(service: "Kafka's storage tool", log: Files.tail(log))
        }
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
}
