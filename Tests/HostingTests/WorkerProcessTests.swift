internal import Glibc
import Lanes
import Synchronization
import Telemetry
import Testing

@testable import Hosting

/// Each worker runs in a process of its own, for signals are the process's.
struct WorkerProcessTests {
    private struct Broken: Error, CustomStringConvertible {
        let description = "broken"
    }

    /// Keeps log lines for the lane that looks for them.
    private final class Recorder: LogOutput {
        private let text = Mutex("")

        func write(_ line: [UInt8]) -> Bool {
            text.withLock { $0 += String(decoding: line, as: UTF8.self) }
            return true
        }

        var lines: String { text.withLock { $0 } }
    }

    /// Runs a worker, and ends the process with its code, or with 1 when a line is missing in the log.
    private static func run(
        _ configuration: WorkerProcess.Configuration,
        expecting lines: [String],
        body: @escaping @Sendable (LaneContext, _ log: () -> String) throws(Broken) -> Void
    ) throws {
        let recorder = Recorder()
        let log = Log(level: .debug, style: .json, output: recorder)
        let worker = WorkerProcess(configuration, log: log, registry: Registry())
        let lane: LaneGroup<Void, Broken>.Body = { (context) throws(Broken) in
            try body(context) { recorder.lines }
        }
        let code = try worker.run(exitCode: { _ in .unavailable }, body: lane)
        for line in lines where !recorder.lines.contains(line) { _exit(1) }
        _exit(code.rawValue)
    }

    @Test func `a signal drains the lanes, and the process ends with 0`() async {
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            await #expect(processExitsWith: .exitCode(0)) { [signal = signal as Int32] in
                // Whoever runs the tests may have told them to ignore hang-ups.
                _ = Glibc.signal(SIGHUP, SIG_DFL)
                let name = [SIGTERM: "SIGTERM", SIGINT: "SIGINT", SIGHUP: "SIGHUP"][signal] ?? ""
                let lines = ["\"event\":\"draining\",\"signal\":\"\(name)\"", "\"event\":\"drained\""]
                try Self.run(.init(role: "a", lanes: 2), expecting: lines) { (context, _) throws(Broken) in
                    if context.index == 0 { kill(getpid(), signal) }
                    while !context.pause(for: .seconds(600)) {}
                }
            }
        }
    }

    @Test func `a second signal ends a stuck process at once`() async {
        await #expect(processExitsWith: .exitCode(128 + SIGTERM)) {
            try Self.run(.init(role: "a", lanes: 1), expecting: []) { (context, _) throws(Broken) in
                kill(getpid(), SIGTERM)
                _ = context.stop.wait(for: .seconds(600))
                kill(getpid(), SIGTERM)
                while true { pause() }
            }
        }
    }

    @Test func `lanes that do not end in time are named, and the process ends with 75`() async {
        await #expect(processExitsWith: .exitCode(75)) {
            let line = #""event":"drain deadline exceeded: lane still runs","lane":"a-1""#
            let configuration = WorkerProcess.Configuration(
                role: "a",
                lanes: 2,
                drainDeadline: .milliseconds(200)
            )
            try Self.run(configuration, expecting: [line]) { (context, _) throws(Broken) in
                if context.index == 1 { while true { pause() } }
                kill(getpid(), SIGTERM)
            }
        }
    }

    @Test func `a failed lane stops the others, and its failure decides the code`() async {
        await #expect(processExitsWith: .exitCode(69)) {
            let line = #""event":"lane failed","lane":"a-1","reason":"broken""#
            try Self.run(.init(role: "a", lanes: 2), expecting: [line]) { (context, _) throws(Broken) in
                if context.index == 1 { throw Broken() }
                _ = context.pause(for: .seconds(600))
            }
        }
    }

    @Test func `health and metrics are served at the address that the log names, until all is drained`() async
    {
        await #expect(processExitsWith: .exitCode(0)) {
            let configuration = WorkerProcess.Configuration(role: "a", lanes: 1, admin: ("127.0.0.1", 0))
            try Self.run(configuration, expecting: []) { (context, log) throws(Broken) in
                let port = log().split(separator: "\"port\":").last.flatMap {
                    UInt16($0.prefix { $0.isNumber })
                }
                func status(_ path: String) -> Int? {
                    port.flatMap { try? HTTPGet.get(path, port: $0).status }
                }
                context.ready()
                guard status("/health/ready") == 200, status("/metrics") == 200 else { throw Broken() }
                kill(getpid(), SIGTERM)
                _ = context.stop.wait(for: .seconds(600))
                guard status("/health/ready") == 503, status("/health/live") == 200 else { throw Broken() }
            }
        }
    }
}
