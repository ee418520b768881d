internal import Hosting
internal import Sealing
internal import Settings

/// The command `posthorn keys generate`.
enum KeysGenerateCommand {
    static let id = Option(
        optional: "id",
        .text("NAME"),
        otherwise: "k and eight random digits",
        environment: .none,
        help:
            "The new key's name, which is stored with everything sealed under it: letters, digits, . _ and -."
    )

    static let command = Command(
        CommandSyntax(
            "keys",
            "generate",
            summary: "add a new key to the key file, which becomes the active one",
            description: """
                Makes the file, readable by its owner only, if there is none. Earlier keys stay, for what is sealed under them. \
                To change keys: generate one, give the file to all workers and restart them, then 'posthorn keys reseal'. \
                Prints the new key's name.
                """,
            groups: [OptionGroup("Options", id), KeyFileOptions.group]
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let values = invocation.values
        try invocation.output.line(KeyFile.generate(values[KeyFileOptions.keyFile], id: values[id]))
        return .done
    }
}
