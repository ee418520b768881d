/// What five letters and digits say about an error.
///
/// Source: PostgreSQL 15, appendix A, "PostgreSQL Error Codes".
enum SQLState {
    /// The class of error that callers act on; `constraint` is the constraint's name, if the server gave one.
    static func kind(of state: String, constraint: String?) -> PostgresError.Kind {
        switch state {
        case "40001": return .serialization
        case "40P01": return .deadlock
        case "40003": return .connectionLost
        case "25006": return .readOnly
        case "25P02": return .rolledBack
        // Ended by an idle timeout of the server's: the session is gone.
        case "25P03", "57P05": return .connectionLost
        case "55P03": return .timeout
        case "57014": return .cancelled
        // Shut down, crashed, starting up, database dropped.
        case "57P01", "57P02", "57P03", "57P04": return .connectionLost
        case "42501": return .permission
        default: break
        }
        switch state.prefix(2) {
        case "08": return .connectionLost
        case "22": return .data
        case "23": return .constraint(name: constraint ?? "")
        case "28": return .permission
        case "40": return .rolledBack
        case "53": return .insufficientResources
        case "0A", "26", "3D", "3F", "42": return .statement
        default: return .other
        }
    }

    /// Whether the server's primary message may be shown.
    ///
    /// These classes quote names of the schema or of the installation only. Class 22 quotes values ("invalid input
    /// syntax for type integer: …"), `RAISE` says whatever its author liked.
    static func hasSafeMessage(_ state: String) -> Bool {
        switch state.prefix(2) {
        case "08", "0A", "23", "25", "26", "28", "3D", "3F", "40", "42", "53", "54", "55", "57", "58": true
        default: false
        }
    }

    /// Finds the state in a connection's error text, where libpq 15 offers it in no other way.
    ///
    /// With verbose errors the text reads `… failed: FATAL:  28P01: password …`: two spaces come before the state and
    /// before nothing else. The last one counts, as the last of several hosts does.
    static func find(in text: String) -> String? {
        let bytes = Array(text.utf8)
        var found: String?
        var index = 0
        while index + 9 < bytes.count {
            if bytes[index] == UInt8(ascii: ":"), bytes[index + 1] == UInt8(ascii: " "),
                bytes[index + 2] == UInt8(ascii: " "), bytes[index + 8] == UInt8(ascii: ":"),
                bytes[(index + 3)..<(index + 8)].allSatisfy(isStateByte)
            {
                found = String(decoding: bytes[(index + 3)..<(index + 8)], as: UTF8.self)
            }
            index += 1
        }
        return found
    }

    private static func isStateByte(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }
}
