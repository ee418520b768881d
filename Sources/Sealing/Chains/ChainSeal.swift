/// Seals one generation of a key chain for the database, and opens it again.
///
/// ```
///   IV (12) | AES-256-GCM(secret 32 | key 32) | tag (16)      92 bytes; associated data: pusher id, month
/// ```
///
/// The row names the key-encryption key by id. The active key's schedule is set once, another's when the id changes. One lane's own.
package struct ChainSeal: ~Copyable {
    /// Bytes of shared secret and key together.
    package static let materialLength = 64
    /// Bytes of a sealed chain.
    package static let sealedLength = materialLength + Cipher.overhead

    private let ring: KeyRing
    private var active: Cipher
    private var other: Cipher
    /// The id of the key that is set in `other`.
    private var otherID: String?

    package init(ring: consuming KeyRing) throws(SealingError) {
        var active = try Cipher()
        let other = try Cipher()
        try ring.withKey(ring.activeID) { key throws(SealingError) in try active.setKey(key) }
        self.active = active
        self.other = other
        self.ring = ring
    }

    /// The id of the key that ``seal(_:bound:random:into:)`` uses.
    package var activeID: String { ring.activeID }

    package var ids: [String] { ring.ids }

    /// Seals secret and key under the active key and appends the 92 bytes to `output`.
    ///
    /// - Precondition: `material` has 64 bytes.
    /// - Throws: ``SealingError/library(operation:reason:)``.
    package mutating func seal(
        _ material: Span<UInt8>,
        bound binding: ChainBinding,
        random: inout RandomSource,
        into output: inout [UInt8]
    ) throws(SealingError) {
        precondition(material.count == Self.materialLength, "a generation has 64 bytes")
        let data = binding.bytes
        try active.seal(material, authenticating: data.span, random: &random, into: &output)
    }

    /// Opens a sealed chain into memory of the caller's.
    ///
    /// The id is the one that the row names. The memory has 64 bytes; it holds zeros after a failure.
    ///
    /// - Throws: ``SealingError/unknownKey(_:)``, ``SealingError/notAuthentic``, ``SealingError/wrongLength(_:)``.
    package mutating func open(
        _ sealed: Span<UInt8>,
        under id: String,
        bound binding: ChainBinding,
        into output: inout MutableSpan<UInt8>
    ) throws(SealingError) {
        guard sealed.count == Self.sealedLength else { throw .wrongLength(sealed.count) }
        let data = binding.bytes
        if id == ring.activeID {
            return try active.open(sealed, authenticating: data.span, into: &output)
        }
        if id != otherID {
            otherID = nil
            try setOther(id)
            otherID = id
        }
        try other.open(sealed, authenticating: data.span, into: &output)
    }

    /// Moves a sealed chain to the active key: opens it, seals it anew and appends the 92 bytes to `output`.
    ///
    /// - Throws: as ``open(_:under:bound:into:)``.
    package mutating func reseal(
        _ sealed: Span<UInt8>,
        under id: String,
        bound binding: ChainBinding,
        random: inout RandomSource,
        into output: inout [UInt8]
    ) throws(SealingError) {
        var material = SecretBytes(count: Self.materialLength)
        try material.withMutableBytes { material throws(SealingError) in
            try open(sealed, under: id, bound: binding, into: &material)
        }
        try material.withBytes { material throws(SealingError) in
            try seal(material, bound: binding, random: &random, into: &output)
        }
    }

    private mutating func setOther(_ id: String) throws(SealingError) {
        try ring.withKey(id) { key throws(SealingError) in try other.setKey(key) }
    }
}
