import Glibc
import LocalServices
import Support

/// A role of the program in a process of its own, from its start to its end.
///
/// It is killed when it is still there at the end of a test. Its log tells, when a test fails, what it met.
final class Role {
    let name: String
    private let process: ChildProcess
    private let output: String
    private let log: String

    /// Starts `posthorn` with these words.
    ///
    /// Dead members of a group are missed after two seconds, not 45: the proofs kill many, and each pause is waited for.
    convenience init(_ installation: Installation, _ words: String...) throws {
        try self.init(installation, words)
    }

    init(_ installation: Installation, _ words: [String], environment: [String: String] = [:]) throws {
        name = uniqueName(words[0])
        output = "\(installation.folder.path)/\(name).out"
        log = "\(installation.folder.path)/\(name).log"
        var command = ChildProcess.Command(BuiltProgram.path, words)
        var settings = installation.environment
        if ["encrypt", "dispatch"].contains(words[0]) {
            settings["POSTHORN_KAFKA_SESSION_TIMEOUT_MS"] = "2000"
            settings["POSTHORN_KAFKA_HEARTBEAT_INTERVAL_MS"] = "300"
        }
        settings.merge(environment) { $1 }
        command.environment = settings.mapValues { $0 }
        command.output = .files(output: output, error: log)
        process = try ChildProcess(command)
    }

    deinit { _ = process.stop(SIGKILL) }

    var isRunning: Bool { process.isRunning }

    /// What it wrote to standard output.
    var written: String { String(decoding: Files.read(output) ?? [], as: UTF8.self) }

    /// Its log's lines of one event.
    func said(_ event: String) -> [Substring] {
        String(decoding: Files.read(log) ?? [], as: UTF8.self).split(separator: "\n").filter {
            $0.contains(#""event":"\#(event)""#)
        }
    }

    /// How its log begins and ends, for a failure's text.
    var words: String {
        let text = String(decoding: Files.read(log) ?? [], as: UTF8.self)
        guard text.utf8.count > 4000 else { return "\(name) said:\n\(text)" }
        return "\(name) said:\n\(text.prefix(1500))\n…\n\(text.suffix(2500))"
    }

    /// Ends it as a power cut would.
    func kill() throws {
        process.signal(SIGKILL)
        guard process.wait(upTo: .seconds(30)) == .killed(signal: SIGKILL) else { throw unexpected() }
    }

    func signal(_ signal: Int32) { process.signal(signal) }

    /// How it ended, once it has.
    func end(within limit: Duration = .seconds(60)) -> ChildProcess.Status? { process.wait(upTo: limit) }

    /// Ends it as an operator does, which takes less than its deadline and gives exit code 0.
    func drain() throws {
        guard process.isRunning else { throw unexpected() }
        process.signal(SIGTERM)
        guard process.wait(upTo: .seconds(60)) == .exited(0) else { throw unexpected() }
    }

    /// Waits until it says that it works.
    func awaitReady(within limit: Duration = .seconds(60)) throws {
        do {
            try eventually("\(name) is ready", within: limit) {
                guard isRunning else { throw unexpected() }
                return try isReady
            }
        } catch let timeout as ConditionTimeout {
            throw UnexpectedEnd(description: "\(timeout.description)\n\(words)")
        }
    }

    var isReady: Bool {
        get throws { try answer("/health/ready")?.hasPrefix("HTTP/1.1 200") ?? false }
    }

    /// The value of a metric without labels, or the sum over those labels that hold `label`.
    func metric(_ name: String, label: String = "") throws -> Int {
        let text = try answer("/metrics") ?? ""
        return text.split(separator: "\n").compactMap { line -> Int? in
            guard line.hasPrefix(name + " ") || line.hasPrefix(name + "{"),
                label.isEmpty || line.contains(label)
            else { return nil }
            return line.split(separator: " ").last.flatMap { Int($0) }
        }.reduce(0, +)
    }

    /// What it answers on its admin address, head and body; nil while nobody listens.
    func answer(_ path: String, within limit: Duration = .seconds(10)) throws -> String? {
        guard let port = adminPort, let connection = try? RawConnection(port: port) else { return nil }
        connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return connection.receive(for: limit).text
    }

    /// Where it serves health and metrics: the log tells.
    private var adminPort: UInt16? {
        let text = String(decoding: Files.read(log) ?? [], as: UTF8.self)
        guard
            let line = text.split(separator: "\n").first(where: { $0.contains(#""admin server listens""#) }),
            let number = line.split(separator: #""port":"#).last?.prefix(while: \.isNumber)
        else { return nil }
        return UInt16(number)
    }

    func unexpected() -> UnexpectedEnd {
        let status = process.status.map { "\($0)" } ?? "still running"
        return UnexpectedEnd(description: "\(name): \(status)\n\(words)")
    }
}
