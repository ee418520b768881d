package import Push
package import Sealing

/// The domain's key derivation, done by OpenSSL: the one place where the two meet.
///
/// One lane's own.
package struct ChainDeriver: ~Copyable, KeyDeriving {
    private var derivation: KeyDerivation

    /// - Throws: ``SealingError`` when the library has no HKDF.
    package init() throws(SealingError) {
        derivation = try KeyDerivation()
    }

    package mutating func derive(
        secret: Span<UInt8>,
        info: Span<UInt8>,
        into output: inout MutableSpan<UInt8>
    ) throws(KeyChainError) {
        do throws(SealingError) {
            try derivation.derive(secret: secret, info: info, into: &output)
        } catch {
            throw .derivationFailed
        }
    }
}
