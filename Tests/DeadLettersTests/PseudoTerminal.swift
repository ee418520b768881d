import Glibc
import LocalServices
import Support

/// A terminal that a program is given as its standard input, and what a person types on it.
final class PseudoTerminal {
    /// To be opened by whoever is to read from it.
    let path: String
    private var keyboard: Int32
    /// Keeps the terminal going before the program has opened it and after.
    private let line: Int32

    init() throws {
        var name = [CChar](repeating: 0, count: 128)
        var (keyboard, line) = (Int32(-1), Int32(-1))
        guard unsafe openpty(&keyboard, &line, &name, nil, nil) == 0 else {
            throw LocalServicesError.system(call: "openpty", code: errno)
        }
        path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.keyboard = keyboard
        self.line = line
    }

    deinit {
        hangUp()
        close(line)
    }

    /// What a person types, keys that mean something to the terminal included.
    func type(_ text: String) {
        let bytes = Array(text.utf8)
        unsafe bytes.withUnsafeBytes { unsafe _ = write(keyboard, $0.baseAddress, $0.count) }
    }

    /// The key that ends the input: Ctrl-D.
    static let end = "\u{4}"

    /// Somebody closes the window.
    func hangUp() {
        if keyboard >= 0 { close(keyboard) }
        keyboard = -1
    }
}

/// A command of the program before a person.
final class Conversation {
    private let terminal: PseudoTerminal
    private let process: ChildProcess
    private let folder: TemporaryFolder

    init(_ words: [String], environment: [String: String]) throws {
        terminal = try PseudoTerminal()
        folder = try TemporaryFolder()
        var command = ChildProcess.Command(BuiltProgram.path, words)
        command.environment = environment.mapValues { $0 }
        command.input = terminal.path
        command.output = .files(output: "\(folder.path)/output", error: "\(folder.path)/errors")
        process = try ChildProcess(command)
    }

    deinit { _ = process.stop(SIGKILL) }

    /// Waits until it has said that on standard error.
    func expect(_ text: String) throws {
        try eventually("it says '\(text)'") {
            if self.text("errors").contains(text) { return true }
            guard process.isRunning else {
                throw LocalServicesError.notReady(service: "'\(text)'", log: self.text("errors"))
            }
            return false
        }
    }

    func type(_ text: String) { terminal.type(text) }

    func hangUp() { terminal.hangUp() }

    /// How it ended and what it had said.
    func outcome() throws -> (code: Int32, output: String, errors: String) {
        guard case .exited(let code) = process.wait(upTo: .seconds(60)) else {
            throw LocalServicesError.notReady(service: "its end", log: text("errors"))
        }
        return (code, text("output"), text("errors"))
    }

    private func text(_ name: String) -> String {
        String(decoding: Files.read("\(folder.path)/\(name)") ?? [], as: UTF8.self)
    }
}
