/// Why something could not be sealed, opened or read.
///
/// Holds names, counts and line numbers; never keys, plaintext or ciphertext.
package enum SealingError: Error, Equatable, Sendable {
    /// The bytes do not open under this key and associated data: forged, damaged, or meant for another key.
    case notAuthentic
    /// The bytes cannot be a sealed message: too short, or not of the one length that there is.
    case wrongLength(Int)
    /// No key of that name is in the key ring.
    case unknownKey(String)
    /// The key file cannot be used.
    case keyFile(path: String, KeyFileFault)
    /// OpenSSL refused a call that does not fail in a healthy process: out of memory, no entropy, a broken installation.
    case library(operation: String, reason: String)

    /// Only a fault of the library may pass by itself.
    package var isRetriable: Bool {
        switch self {
        case .library: true
        case .notAuthentic, .wrongLength, .unknownKey, .keyFile: false
        }
    }
}

extension SealingError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notAuthentic: "does not open under this key"
        case .wrongLength(let count): "\(count) bytes cannot be a sealed message"
        case .unknownKey(let id): "the key ring has no key \(id)"
        case .keyFile(let path, let fault): "key file \(path): \(fault)"
        case .library(let operation, let reason): "OpenSSL: \(operation): \(reason)"
        }
    }
}
