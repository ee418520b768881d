internal import Hosting
internal import Settings

/// Who acts: written beside what was done.
enum OperatorOptions {
    static let name = Option(
        optional: "operator",
        .text("NAME"),
        otherwise: "the login name",
        help: "Who does this, for the record."
    )

    static let group = OptionGroup("Who", name)

    /// The name that was given, else the login name; the database holds 256 bytes.
    static func name(_ values: Values) throws -> String {
        let name = values[name] ?? ProcessFacts.loginName()
        guard name.utf8.count <= 256 else {
            throw SettingsError([values.fault(self.name, "is longer than 256 bytes")])
        }
        return name
    }
}
