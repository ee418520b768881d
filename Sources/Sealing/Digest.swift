import Copenssl

/// SHA-256, fetched once, its context used again and again; one lane's own.
///
/// In one go with ``sha256(_:)``, or piece by piece with ``update(_:)`` and ``finish()``, which begins anew.
///
/// The corresponding C functions are `EVP_DigestInit_ex2`, `EVP_DigestUpdate`, `EVP_DigestFinal_ex`.
@safe
package struct Digest: ~Copyable {
    package static let length = 32
    package typealias Hash = InlineArray<32, UInt8>

    private let algorithm: OpaquePointer
    private let context: OpaquePointer
    /// Nothing was given to the context since the last digest.
    private var isFinished = false

    package init() throws(SealingError) {
        let algorithm = unsafe try Library.made(EVP_MD_fetch(nil, "SHA256", nil), "fetch SHA-256")
        guard let context = unsafe EVP_MD_CTX_new(), unsafe EVP_DigestInit_ex2(context, algorithm, nil) == 1
        else {
            unsafe EVP_MD_free(algorithm)
            throw Library.failure("make a digest context")
        }
        unsafe self.algorithm = algorithm
        unsafe self.context = context
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
        unsafe EVP_MD_free(algorithm)
    }

    /// The digest of `bytes`; what was given to ``update(_:)`` before is forgotten.
    package mutating func sha256(_ bytes: Span<UInt8>) throws(SealingError) -> Hash {
        isFinished = true
        try update(bytes)
        return try finish()
    }

    package mutating func update(_ bytes: Span<UInt8>) throws(SealingError) {
        try beginIfFinished()
        let answer = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
        }
        try Library.check(answer, "digest")
    }

    /// A field preceded by its length as a big-endian `UInt32`, so that no two lists of fields give the same input.
    package mutating func updateField(_ bytes: Span<UInt8>) throws(SealingError) {
        let count = UInt32(clamping: bytes.count)
        let prefix: InlineArray<4, UInt8> = [
            UInt8(truncatingIfNeeded: count >> 24), UInt8(truncatingIfNeeded: count >> 16),
            UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count),
        ]
        try update(prefix.span)
        try update(bytes)
    }

    /// The digest of all that was given since the last one.
    package mutating func finish() throws(SealingError) -> Hash {
        try beginIfFinished()
        var hash = Hash(repeating: 0)
        var span = hash.mutableSpan
        let answer = unsafe span.withUnsafeMutableBufferPointer { output in
            unsafe EVP_DigestFinal_ex(context, output.baseAddress, nil)
        }
        isFinished = true
        try Library.check(answer, "finish a digest")
        return hash
    }

    private mutating func beginIfFinished() throws(SealingError) {
        guard isFinished else { return }
        isFinished = false
        try Library.check(unsafe EVP_DigestInit_ex2(context, nil, nil), "begin a digest")
    }
}
