internal import Glibc
internal import Hosting

/// `posthorn-bench`: measures the pipeline against baselines in one run, on the same broker, database and record sizes.
///
/// Every measurement runs in a process of its own, this program again, so that memory and CPU of one are not counted for another.
@main
enum Program {
    static func main() {
        ProcessFacts.ignoreBrokenPipes()
        ProcessFacts.keepFreedMemory()
        let code = run(Array(CommandLine.arguments.dropFirst()))
        // Not exit: its handlers would tear libraries down under threads that are still running.
        _exit(code.rawValue)
    }

    private static func run(_ words: [String]) -> ExitCode {
        do {
            switch words.first {
            case Assignment.command:
                let assignment = try Assignment(words: Array(words.dropFirst()))
                try Console.write(assignment.name.measure(assignment).line + "\n")
                return .done
            case GatewayProcess.command:
                return try GatewayProcess.serve(words: Array(words.dropFirst()))
            default:
                let arguments = try Arguments(words)
                if arguments.wantsHelp {
                    try Console.write(Arguments.help)
                    return .done
                }
                return try Session(arguments).run()
            }
        } catch let error as BenchmarkError {
            Console.say("\(error)")
            return error.exitCode
        } catch {
            Console.say("\(error)")
            return .software
        }
    }
}
