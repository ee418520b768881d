import LocalServices

/// The program as it was built beside the tests that run.
package enum BuiltProgram {
    /// The absolute path of `posthorn`.
    package static let path =
        OwnProgram.path.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/posthorn"
}
