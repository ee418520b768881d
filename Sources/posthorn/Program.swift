internal import Glibc
internal import Hosting

/// The program: reads the command line, runs one command, ends with its code.
@main
enum Program {
    /// Three numbers by the rules of https://semver.org.
    static let version = "0.1.0"

    static func main() {
        ProcessFacts.ignoreBrokenPipes()
        ProcessFacts.keepFreedMemory()
        let shell = Shell(commands: Command.all, environment: ProcessFacts.environment())
        let code = shell.run(Array(CommandLine.arguments.dropFirst()))
        // Not exit: its handlers would tear libraries down under threads that a worker had to let go.
        _exit(code.rawValue)
    }
}
