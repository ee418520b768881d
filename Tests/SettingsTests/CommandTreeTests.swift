import Testing

@testable import Settings

struct CommandTreeTests {
    private let tree = Example.tree

    @Test(arguments: [
        (["encrypt"], CommandTree.Selection.command(index: 1, words: [])),
        (["pushers", "import", "file", "--strict"], .command(index: 0, words: ["file", "--strict"])),
        (["encrypt", "--", "--help"], .command(index: 1, words: ["--", "--help"])),
        ([], .help(path: [], wasAsked: false)),
        (["--help"], .help(path: [], wasAsked: true)),
        (["help"], .help(path: [], wasAsked: true)),
        (["help", "gateways", "add"], .help(path: ["gateways", "add"], wasAsked: true)),
        (["pushers"], .help(path: ["pushers"], wasAsked: false)),
        (["pushers", "-h"], .help(path: ["pushers"], wasAsked: true)),
        (
            ["pushers", "import", "--lanes", "x", "--help"],
            .help(path: ["pushers", "import"], wasAsked: true)
        ),
    ])
    func `a command line selects a command or help`(line: [String], selection: CommandTree.Selection) throws {
        #expect(try tree.select(line) == selection)
    }

    @Test(arguments: [
        (["encrpyt"], "'encrpyt': there is no such command; did you mean encrypt?"),
        (["pushers", "imprt"], "'pushers imprt': there is no such command; did you mean import?"),
        (["import"], "'import': there is no such command; did you mean pushers import?"),
        (["help", "nothing-like-it"], "'nothing-like-it': there is no such command"),
        (["--lanes", "encrypt"], "'--lanes': options stand behind the command's name"),
    ])
    func `an unknown command suggests the nearest`(line: [String], fault: String) {
        let error = #expect(throws: SettingsError.self) { try tree.select(line) }
        #expect(error?.description == fault)
        #expect(error?.isUsage == true)
    }

    @Test func `the program's help lists its commands`() {
        #expect(
            tree.help(about: [], width: 80, isBold: false) == """
                posthorn: sealed push notifications

                Usage: posthorn COMMAND [OPTION]...

                Commands
                  pushers import  add pushers from lines of JSON
                  encrypt         seal trigger events
                  gateways add    list a gateway

                Each command explains itself: posthorn COMMAND --help

                """
        )
    }

    @Test func `a command's help has every option with range, unit, default and environment name`() {
        #expect(
            tree.help(about: ["pushers", "import"], width: 80, isBold: false).hasPrefix(
                """
                posthorn pushers import: add pushers from lines of JSON

                Usage: posthorn pushers import [OPTION]... [FILE]

                Reads one object a line.

                Arguments
                  FILE                        Lines to read.
                                              [the path of a file, or - for standard input;
                                              default -]

                Options
                  --lanes N                   Lanes to run.
                                              [an integer from 1 to 64 (threads); default 1;
                                              POSTHORN_LANES]
                  --linger DURATION           Wait for a fuller batch.
                                              [a duration from 0s to 10s with its unit (ms, s,
                                              m, h, d); default 5ms; POSTHORN_LINGER]

                """
            )
        )
        let whole = tree.help(about: ["encrypt"], width: 100, isBold: false)
        #expect(
            whole.contains(
                "Usage: posthorn encrypt [OPTION]... --bootstrap-servers HOST:PORT,... --database-url URL"
            )
        )
        #expect(whole.contains("[a NAME=VALUE; may be repeated; POSTHORN_KAFKA_A_B sets a.b]"))
        #expect(whole.contains("  -h, --help"))
        #expect(whole.contains("required; POSTHORN_KAFKA_BOOTSTRAP_SERVERS]"))
        #expect(whole.contains("POSTHORN_CONFIG"))
    }

    @Test(arguments: [10, 40, 72, 100, 400])
    func `no line of the help is wider than the terminal, from 40 to 100 columns`(width: Int) {
        let limit = min(max(width, 40), 100)
        for command in tree.commands {
            for line in tree.help(about: command.path, width: width, isBold: false).split(separator: "\n")
            where line.contains(" ") {
                let longestWord = line.split(separator: " ").map(\.count).max() ?? 0
                #expect(line.count <= limit || line.count - longestWord <= 30, "\(line)")
            }
        }
    }

    @Test func `a terminal gets headings in bold`() {
        let help = tree.help(about: ["encrypt"], width: 80, isBold: true)
        #expect(help.contains("\u{1b}[1mKafka\u{1b}[0m"))
    }

    @Test func `no two options of a command share a name`() {
        for command in tree.commands {
            #expect(Set(command.options.map(\.name)).count == command.options.count)
        }
    }
}
