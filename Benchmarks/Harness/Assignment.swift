internal import LocalServices

/// What a measurement's process is told: the words behind the hidden command `measure`.
struct Assignment {
    static let command = "measure"

    let name: BenchmarkName
    /// Trigger events to read; others derive from it how much they do.
    let events: Int
    let bootstrapServers: String
    let databaseURL: String
    let keyFile: String

    init(name: BenchmarkName, events: Int, bootstrapServers: String, databaseURL: String, keyFile: String) {
        self.name = name
        self.events = events
        self.bootstrapServers = bootstrapServers
        self.databaseURL = databaseURL
        self.keyFile = keyFile
    }

    init(words: [String]) throws(BenchmarkError) {
        guard words.count == 5, let name = BenchmarkName(rawValue: words[0]), let events = Int(words[1])
        else {
            throw .usage("'\(Self.command)' is for this program's own use")
        }
        self.init(
            name: name,
            events: events,
            bootstrapServers: words[2],
            databaseURL: words[3],
            keyFile: words[4]
        )
    }

    var words: [String] {
        [Self.command, name.rawValue, "\(events)", bootstrapServers, databaseURL, keyFile]
    }
}

extension OwnProgram {
    /// This program, started again.
    static func command(_ words: [String], output: String, errors: String) -> ChildProcess.Command {
        var command = ChildProcess.Command(path, words)
        command.output = .files(output: output, error: errors)
        return command
    }
}
