package import JSON
package import Push
package import Sealing

/// Why a device shows a generic text instead of the message.
///
/// Names months, fields and lengths; never pushkeys, keys, ciphertext or plaintext.
package enum OpenError: Error, Equatable, Sendable {
    /// Not exactly `yyyy-MM` of the years 2000 to 2099.
    case malformedMonth
    /// Not strict Base64, or not of the length that its format has.
    case malformedCiphertext
    /// No registration here has that pushkey and app.
    case unknownDevice
    /// The device has registrations, but none with that chain.
    case unknownKeyIdentifier
    /// The month lies before the oldest one whose keys are kept.
    case keyNotKept(Month)
    /// The month is further ahead than a device believes without proof.
    case tooFarAhead(from: Month, to: Month)
    /// The message was not sealed with that month's key of this chain, or was changed on its way.
    case notAuthentic
    /// It opens, but what is inside is not framed as the format demands.
    case malformedFrame
    /// A line of a file that cannot be understood.
    case malformedLine(ReadError)
    /// OpenSSL failed; the message may be fine.
    case library(SealingError)

    /// Only a failure of the library may pass by itself.
    package var isRetriable: Bool {
        if case .library(let error) = self { error.isRetriable } else { false }
    }

    init(_ error: SealingError) {
        switch error {
        case .notAuthentic: self = .notAuthentic
        case .wrongLength: self = .malformedCiphertext
        case .unknownKey, .keyFile, .library: self = .library(error)
        }
    }

    init(_ error: KeyChainError) {
        switch error {
        case .tooFarAhead(let from, let to, _): self = .tooFarAhead(from: from, to: to)
        case .derivationFailed: self = .library(.library(operation: "derive", reason: "refused"))
        }
    }
}

extension OpenError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .malformedMonth: "the month is not yyyy-MM"
        case .malformedCiphertext: "the ciphertext is not Base64 of the right length"
        case .unknownDevice: "no registration of this pushkey and app"
        case .unknownKeyIdentifier: "no registration of this device has that key_identifier"
        case .keyNotKept(let month): "the keys of \(month) are not kept any more"
        case .tooFarAhead(let from, let to): "the month \(to) is too far ahead of \(from)"
        case .notAuthentic: "the message does not open with the key of its month"
        case .malformedFrame: "the message opens, but is not framed as PNM1"
        case .malformedLine(let error): "the line does not read: \(error)"
        case .library(let error): "\(error)"
        }
    }
}
