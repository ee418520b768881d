internal import Hosting
internal import Settings

/// Why a command did not do what it was asked, for who asked.
///
/// A command throws one to choose code, message and hint itself; any other error is turned into one by ``init(_:command:)``.
struct Failure: Error, Equatable {
    let code: ExitCode
    /// Nil when there is nobody to tell.
    let message: String?
    /// What to do about it.
    let hint: String?

    init(_ code: ExitCode, _ message: String?, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }
}

/// An error that knows its exit code; its description is the message, and holds no secret.
///
/// The errors of the modules below get it by extensions in `Failure+Modules.swift`.
protocol ExitCoded: Error, CustomStringConvertible {
    var exitCode: ExitCode { get }
    var hint: String? { get }
}

extension ExitCoded {
    var hint: String? { nil }
}

extension Failure {
    /// What to say about `error`, thrown by the command with that path (empty before one was selected).
    init(_ error: any Error, command path: [String]) {
        switch error {
        case OutputError.readerLeft:
            self.init(.done, nil)
        case let failure as Failure:
            self = failure
        case let error as SettingsError:
            let name = (["posthorn"] + path).joined(separator: " ")
            self.init(
                error.isUsage ? .usage : .configuration,
                error.description,
                hint: "Try '\(name) --help'."
            )
        case let error as any ExitCoded:
            self.init(error.exitCode, error.description, hint: error.hint)
        default:
            self.init(.software, "\(error)")
        }
    }
}
