package import Postgres
internal import Push
internal import Sealing

/// What stands for a user wherever operators look: the beginning of a digest under the database's own salt.
///
/// The same user has the same one in lists, filters and the audit of one database. It is a pseudonym and no secret: whoever can read the
/// salt and knows the users can find them again.
package struct Pseudonyms: ~Copyable {
    private let salt: [UInt8]
    private var digest: Digest
    /// The last one asked for: letters of one user often lie together.
    private var last: (user: [UInt8], text: String) = ([], "")

    /// 64 bits: enough that two users of a country hardly share one.
    private static let length = 8

    package init(salt: [UInt8]) throws(DeadLettersError) {
        self.salt = salt
        digest = try sealing { () throws(SealingError) in try Digest() }
    }

    /// Takes the salt from the database.
    package init(from connection: inout Connection) throws(DeadLettersError) {
        let salt = try database { () throws(PostgresError) in
            try connection.query("SELECT salt FROM dead_letter_pseudonyms").uuid(0, 0)
        }
        try self.init(salt: salt)
    }

    /// 16 hexadecimal digits.
    package mutating func text(of user: [UInt8]) throws(DeadLettersError) -> String {
        if last.user == user, !last.text.isEmpty { return last.text }
        let bytes = salt + user
        do throws(SealingError) {
            let hash = try digest.sha256(bytes.span)
            let text = Hex.text(hash.span.extracting(first: Self.length))
            last = (user, text)
            return text
        } catch {
            throw .sealing(error)
        }
    }
}
