/// The names under which one session keeps statements prepared.
///
/// A name belongs to a text and its parameters' types: the same text with other types is another statement.
struct StatementCache {
    private struct Key: Hashable {
        let sql: String
        let types: [UInt32]
    }

    private var names: [Key: String] = [:]
    /// Never reused within a session, since a name that was forgotten here may still be taken there.
    private var nextNumber = 1

    var count: Int { names.count }

    /// The name of a statement that is prepared already.
    func name(_ sql: String, _ parameters: Parameters) -> String? {
        names[Key(sql: sql, types: parameters.types)]
    }

    mutating func freshName() -> String {
        defer { nextNumber += 1 }
        return "posthorn_\(nextNumber)"
    }

    mutating func remember(_ name: String, _ sql: String, _ parameters: Parameters) {
        names[Key(sql: sql, types: parameters.types)] = name
    }

    mutating func forget(_ sql: String, _ parameters: Parameters) {
        names[Key(sql: sql, types: parameters.types)] = nil
    }

    /// For a new session, which knows none.
    mutating func forget() { names.removeAll() }
}
