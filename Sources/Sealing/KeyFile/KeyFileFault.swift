/// What is wrong with a key file: names lines and reasons, never a byte of a key.
package enum KeyFileFault: Error, Equatable, Sendable {
    case missing
    case notRegularFile
    /// Owned by neither the process's user nor root.
    case foreignOwner
    /// Somebody beside its owner may use it; the mode as it is.
    case openToOthers(mode: UInt32)
    case tooLarge
    case noKey
    /// A line that is none of: a key, a comment, blank. Counted from 1.
    case malformedLine(Int, LineFault)
    /// The id is taken already, when a key is generated.
    case idTaken
    case system(operation: String, code: Int32)

    package enum LineFault: String, Sendable {
        case shape = "expected an id, a space and 64 hexadecimal digits"
        case id = "an id has 1 to 64 of the characters A-Z a-z 0-9 . _ -"
        case digits = "the key is not 64 hexadecimal digits"
        case duplicate = "an earlier line has the same id"
    }
}

extension KeyFileFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .missing: "does not exist"
        case .notRegularFile: "is not a regular file"
        case .foreignOwner: "belongs to somebody else"
        case .openToOthers(let mode): "is open to others (mode \(String(mode & 0o7777, radix: 8)), want 600)"
        case .tooLarge: "is larger than \(KeyFile.maximumLength) bytes"
        case .noKey: "holds no key"
        case .malformedLine(let line, let fault): "line \(line): \(fault.rawValue)"
        case .idTaken: "has a key of that id"
        case .system(let operation, let code): "\(operation) failed (errno \(code))"
        }
    }
}
