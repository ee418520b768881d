import Copenssl

/// HKDF-SHA256 with an empty salt.
///
/// The function is fetched, the digest chosen and the context made once. One lane's own; keeps nothing of a secret between two calls.
///
/// The corresponding C function is `EVP_KDF_derive`. Source: RFC 5869.
@safe
package struct KeyDerivation: ~Copyable {
    private let context: OpaquePointer

    package init() throws(SealingError) {
        let function = unsafe try Library.made(EVP_KDF_fetch(nil, "HKDF", nil), "fetch HKDF")
        let made = unsafe EVP_KDF_CTX_new(function)
        // The context holds a reference of its own.
        unsafe EVP_KDF_free(function)
        let context = unsafe try Library.made(made, "make a derivation context")
        guard unsafe hkdf_sha256_prepare(context) == 1 else {
            unsafe EVP_KDF_CTX_free(context)
            throw Library.failure("choose HKDF-SHA256")
        }
        unsafe self.context = context
    }

    deinit {
        unsafe EVP_KDF_CTX_free(context)
    }

    /// Derives as many bytes as `output` has room for: 1 to 8160.
    ///
    /// The secret is the input keying material, at least one byte; the info says what the bytes are for.
    ///
    /// - Throws: ``SealingError/library(operation:reason:)``.
    package mutating func derive(
        secret: Span<UInt8>,
        info: Span<UInt8>,
        into output: inout MutableSpan<UInt8>
    ) throws(SealingError) {
        let answer = unsafe output.withUnsafeMutableBufferPointer { output in
            unsafe secret.withUnsafeBufferPointer { secret in
                unsafe info.withUnsafeBufferPointer { info in
                    unsafe hkdf_sha256_derive(
                        context,
                        secret.baseAddress,
                        secret.count,
                        info.baseAddress,
                        info.count,
                        output.baseAddress,
                        output.count
                    )
                }
            }
        }
        try Library.check(answer, "derive")
    }
}
