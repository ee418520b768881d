internal import Glibc
internal import Settings

/// Who acts: written beside what was done.
enum OperatorOptions {
    static let name = Option(
        optional: "operator",
        .text("NAME", expectation: "a name of at most 256 bytes"),
        otherwise: "the login name",
        help: "Who does this, for the record."
    )

    /// The name that was given, else the login name of the process's user, else its number.
    ///
    /// Not from the environment, which anybody can set. The corresponding C function is `getpwuid`.
    static func name(_ values: Values) throws -> String {
        if let given = values[name] {
            guard given.utf8.count <= 256 else {
                throw SettingsError([values.fault(name, "is longer than 256 bytes")])
            }
            return given
        }
        guard let entry = unsafe getpwuid(getuid()), let login = unsafe entry.pointee.pw_name else {
            return "uid \(getuid())"
        }
        return unsafe String(cString: login)
    }
}
