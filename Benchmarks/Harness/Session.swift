internal import Hosting
internal import Lanes
internal import LocalServices

/// One run of the program: servers, rounds of measurements, the report.
///
/// The rounds are interleaved (all benchmarks once, then all again), so that what disturbs the machine for a moment does not hit one of them
/// alone.
struct Session {
    private let arguments: Arguments

    init(_ arguments: Arguments) {
        self.arguments = arguments
    }

    func run() throws -> ExitCode {
        let signals = try TerminationSignals()
        let fixture = try Fixture(for: arguments, signals: signals.descriptor)
        var results: [BenchmarkName: [Measurement]] = [:]
        for round in 1...arguments.rounds {
            for name in steps(round) {
                let measurement = try measure(name, fixture)
                Console.say("round \(round) of \(arguments.rounds): \(name.rawValue) \(measurement.summary)")
                results[name, default: []].append(measurement)
            }
        }
        let report = Report(arguments.names.compactMap { Figures($0, results[$0] ?? []) })
        try Console.write(arguments.isJSON ? report.json : report.table)
        return .done
    }

    /// What is run in a round: also what must have been written before it can be read.
    private func steps(_ round: Int) -> [BenchmarkName] {
        let isPrepared = round > 1 || arguments.names.contains(.encrypt4)
        let needsPreparation = !isPrepared && arguments.names.contains(where: \.readsNotifications)
        let names = arguments.names.filter { round == 1 || !$0.isMeasuredOnce }
        return needsPreparation ? [.encrypt4] + names : names
    }

    private func measure(_ name: BenchmarkName, _ fixture: Fixture) throws -> Measurement {
        try fixture.prepare(name)
        let folder = try TemporaryFolder(prefix: "posthorn-bench")
        let (output, errors) = ("\(folder.path)/out", "\(folder.path)/err")
        let words = fixture.assignment(name).words
        let child = try ChildProcess(OwnProgram.command(words, output: output, errors: errors))
        try fixture.wait(for: child)
        guard child.status == .exited(0), let measurement = Measurement(line: Files.tail(output)) else {
            throw BenchmarkError.failed(benchmark: name.rawValue, log: Files.tail(errors))
        }
        return measurement
    }
}
