import Push
import Sealing

/// The key derivation that the domain's key chains ask for, done by OpenSSL.
struct Derivation: ~Copyable, KeyDeriving {
    private var derivation: KeyDerivation

    init() throws(SealingError) {
        derivation = try KeyDerivation()
    }

    mutating func derive(
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
