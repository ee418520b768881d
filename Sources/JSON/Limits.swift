/// What a ``Reader`` accepts at most, so that no document can cost more than its owner planned for.
///
/// Every limit is inclusive; exceeding one is a ``ReadError``, never a trap.
package struct Limits: Sendable {
    /// The whole document in bytes; default 4 MiB.
    package var documentBytes: Int
    /// Objects and arrays inside one another; default 32.
    ///
    /// Reading is recursive, so keep it below a few hundred.
    package var depth: Int
    /// Members of one object; default 1,000.
    package var members: Int
    /// Elements of one array; default 100,000.
    package var elements: Int
    /// One string or member name as it is written, escapes included, in bytes; default 1 MiB.
    package var stringBytes: Int
    /// Whether an object may name a member twice; default false.
    ///
    /// Two readers of such an object may each believe another value (RFC 8259 §4). Names are compared after
    /// unescaping.
    package var allowsDuplicateNames: Bool

    package init(
        documentBytes: Int = 4 << 20,
        depth: Int = 32,
        members: Int = 1_000,
        elements: Int = 100_000,
        stringBytes: Int = 1 << 20,
        allowsDuplicateNames: Bool = false
    ) {
        self.documentBytes = documentBytes
        self.depth = depth
        self.members = members
        self.elements = elements
        self.stringBytes = stringBytes
        self.allowsDuplicateNames = allowsDuplicateNames
    }
}

/// What a value is, known from its first byte.
package enum Kind: String, Sendable {
    case object
    case array
    case string
    case number
    case boolean
    case null
}
