internal import Settings

/// Where the key-encryption keys are.
enum KeyFileOptions {
    static let keyFile = Option(
        required: "key-file",
        .file,
        help:
            "File of the keys that seal key chains in the database; readable by its owner only. See 'posthorn keys generate'."
    )

    static let group = OptionGroup("Keys", keyFile)
}
