internal import Hosting
internal import Kafka

/// What the broker did not confirm in one run.
struct Losses {
    private(set) var count = 0
    /// What the program ends with because of them.
    private(set) var code: ExitCode?

    /// Tells of a line that was not even handed over.
    mutating func add(
        _ error: KafkaError,
        line: Int,
        _ text: String,
        _ progress: inout ProgressLine
    ) {
        count += 1
        progress.say("line \(line): not delivered: \(text)")
        let isPassing = error.isTimeout || error.isRetriable
        if code != .inputOutput { code = isPassing ? .temporary : .inputOutput }
    }

    /// Tells of what has failed or gone wrong since the last time.
    mutating func take(
        _ failures: [AccountedProducer.Failure],
        _ troubles: [KafkaError],
        _ progress: inout ProgressLine
    ) {
        for failure in failures {
            let doubt = failure.isPossiblyWritten ? "; the broker may have it all the same" : ""
            add(failure.error, line: failure.number, "\(failure.error)\(doubt)", &progress)
        }
        for trouble in troubles { progress.say("\(trouble)") }
    }
}
