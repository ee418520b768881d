internal import Glibc
internal import HTTPServer
internal import Hosting
internal import Lanes
internal import LocalServices
internal import Simulation

/// A gateway that answers at once, in a process of its own: the hidden command `gateway`.
final class GatewayProcess {
    static let command = "gateway"
    private let child: ChildProcess

    /// Starts it on a loopback port; returns once it accepts connections.
    init(port: UInt16, in folder: String) throws {
        let log = "\(folder)/gateway"
        child = try ChildProcess(OwnProgram.command([Self.command, "\(port)"], output: log, errors: log))
        let deadline = ContinuousClock.now + .seconds(30)
        while !FreePort.accepts(port) {
            guard child.isRunning && ContinuousClock.now < deadline else {
                throw BenchmarkError.unavailable("the simulated gateway does not start: \(Files.tail(log))")
            }
            _ = child.wait(upTo: .milliseconds(20))
        }
    }

    deinit { child.stop() }

    /// The body of that process.
    static func serve(words: [String]) throws -> ExitCode {
        guard let port = words.first.flatMap({ UInt16($0) }) else {
            throw BenchmarkError.usage("'\(command)' is for this program's own use")
        }
        let signals = try TerminationSignals()
        var gateway = try SimulatedGateway(
            SimulatedGateway.Settings(listen: ListenAddress(host: "127.0.0.1", port: port))
        )
        while !Readiness.wait(for: signals.descriptor, until: Monotonic.deadline(after: .seconds(60))) {}
        return gateway.drain(within: .seconds(5)) ? .done : .temporary
    }
}
