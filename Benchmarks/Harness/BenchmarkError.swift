internal import Hosting

/// What keeps a benchmark from giving a figure.
enum BenchmarkError: Error {
    case usage(String)
    case noKafka
    /// A server could not be started.
    case unavailable(String)
    /// A measurement's process did not give a figure; its last words.
    case failed(benchmark: String, log: String)
    /// Nothing moved for too long.
    case stuck(String)
    case interrupted

    var exitCode: ExitCode {
        switch self {
        case .usage: .usage
        case .noKafka, .unavailable: .unavailable
        case .failed, .stuck: .software
        case .interrupted: .temporary
        }
    }
}

extension BenchmarkError: CustomStringConvertible {
    var description: String {
        switch self {
        case .usage(let problem): "\(problem); --help tells what there is"
        case .noKafka:
            """
            the benchmarks need a real Kafka, as a stand-in's figures would mean nothing: set KAFKA_HOME to a folder laid \
            out as Apache's release, or run 'make kafka' once
            """
        case .unavailable(let reason): reason
        case .failed(let benchmark, let log): "\(benchmark) gave no figure:\n\(log)"
        case .stuck(let what): "\(what) made no progress for a minute"
        case .interrupted: "interrupted"
        }
    }
}
