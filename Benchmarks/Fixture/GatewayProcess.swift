internal import Glibc
internal import HTTPServer
internal import Hosting
internal import Lanes
internal import LocalServices
internal import Simulation

/// Gateways in a process of their own: the hidden command `gateway`.
final class GatewayProcess {
    static let command = "gateway"
    private let child: ChildProcess

    /// Starts one on each of some loopback ports, the last `hanging` of which never answer; returns once all accept connections.
    init(_ ports: [UInt16], hanging: Int, in folder: String) throws {
        let log = "\(folder)/gateway"
        let words = [Self.command, "\(hanging)"] + ports.map { "\($0)" }
        child = try ChildProcess(OwnProgram.command(words, output: log, errors: log))
        let deadline = ContinuousClock.now + .seconds(30)
        for port in ports {
            while !FreePort.accepts(port) {
                guard child.isRunning && ContinuousClock.now < deadline else {
                    throw BenchmarkError.unavailable("a gateway does not start: \(Files.tail(log))")
                }
                _ = child.wait(upTo: .milliseconds(20))
            }
        }
    }

    deinit { child.stop() }

    /// The body of that process.
    static func serve(words: [String]) throws -> ExitCode {
        let numbers = words.compactMap { UInt16($0) }
        guard words.count >= 2, numbers.count == words.count, numbers[0] < words.count else {
            throw BenchmarkError.usage("'\(command)' is for this program's own use")
        }
        let signals = try TerminationSignals()
        let (hanging, ports) = (Int(numbers[0]), numbers.dropFirst())
        let answering = try ports.dropLast(hanging).map { try InstantGateway(port: $0) }
        let others = try ports.suffix(hanging).map { try HangingGateway(port: $0) }
        while !Readiness.wait(for: signals.descriptor, until: Monotonic.deadline(after: .seconds(60))) {}
        let isDone = (answering.map { $0.drain() } + others.map { $0.drain() }).allSatisfy(\.self)
        return isDone ? .done : .temporary
    }
}

/// The simulated gateway, which takes requests and never answers.
private final class HangingGateway {
    private var gateway: SimulatedGateway

    init(port: UInt16) throws {
        gateway = try SimulatedGateway(
            SimulatedGateway.Settings(
                listen: ListenAddress(host: "127.0.0.1", port: port),
                behaviour: { _ in .doing(.hang) }
            )
        )
    }

    func drain() -> Bool { gateway.drain(within: .seconds(5)) }
}
