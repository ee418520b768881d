internal import LocalServices

extension BuiltProgram {
    /// How a run of the program ended, and what it said.
    package struct Outcome: Sendable {
        /// The exit code; minus the signal's number if one killed it.
        package let code: Int32
        package let output: String
        package let errors: String
    }

    /// Runs the program to its end, with nothing of ours in its environment but what is given.
    ///
    /// - Parameters:
    ///   - arguments: what stands behind the program's name.
    ///   - environment: added to this process's.
    ///   - input: standard input; none by default.
    /// - Returns: how it ended and what it said.
    /// - Throws: when it cannot be started.
    package static func run(
        _ arguments: [String],
        environment: [String: String] = [:],
        input: String? = nil
    ) throws -> Outcome {
        let folder = try TemporaryFolder()
        var command = ChildProcess.Command(path, arguments)
        command.environment = environment.mapValues { $0 }
        command.output = .files(output: "\(folder.path)/output", error: "\(folder.path)/errors")
        if let input {
            try Files.write(input, to: "\(folder.path)/input")
            command.input = "\(folder.path)/input"
        }
        let code: Int32 =
            switch try ChildProcess.run(command) {
            case .exited(let code): code
            case .killed(let signal): -signal
            }
        func text(_ name: String) -> String {
            String(decoding: Files.read("\(folder.path)/\(name)") ?? [], as: UTF8.self)
        }
        return Outcome(code: code, output: text("output"), errors: text("errors"))
    }
}
