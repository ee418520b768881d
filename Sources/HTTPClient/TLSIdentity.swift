internal import Ccurl

/// The certificates that a client shows and the authorities that it trusts, as contents, not as file names.
///
/// libcurl compares the contents when it looks for a connection to reuse. So a replaced certificate leads to new connections by
/// itself, while those under the old one finish what they carry. Nothing here can be changed: a new certificate is a new identity.
package struct TLSIdentity: Sendable, Equatable {
    /// PEM of the authorities to trust; nil: the system's.
    let authorities: [UInt8]?
    /// PEM of the client certificate and its chain, and of its unencrypted private key.
    let pair: Pair?

    struct Pair: Sendable, Equatable {
        let certificates: [UInt8]
        let key: [UInt8]
    }

    /// Checks what it takes, so that a half-written file is noticed here and not by the next handshake.
    ///
    /// - Parameters:
    ///   - authorities: PEM certificates, one or more; nil: the system's authorities.
    ///   - certificates: PEM, the client's own certificate first, then its chain; nil: none is shown.
    ///   - key: PEM of the private key of the first certificate, not encrypted; present exactly when `certificates` is.
    /// - Throws: ``IdentityError`` naming the part that cannot be used.
    package init(
        authorities: [UInt8]? = nil,
        certificates: [UInt8]? = nil,
        key: [UInt8]? = nil
    ) throws(IdentityError) {
        if let authorities, !TLSIdentity.areCertificates(authorities) { throw .unreadable(.authorities) }
        self.authorities = authorities
        switch (certificates, key) {
        case (nil, nil):
            pair = nil
        case (let certificates?, let key?):
            guard TLSIdentity.areCertificates(certificates) else { throw .unreadable(.certificate) }
            try TLSIdentity.checkPair(certificates, key)
            pair = Pair(certificates: certificates, key: key)
        case (nil, _?):
            throw .incomplete(missing: .certificate)
        case (_?, nil):
            throw .incomplete(missing: .key)
        }
    }

    private static func areCertificates(_ pem: [UInt8]) -> Bool {
        unsafe pem.withUnsafeBytes { bytes in
            unsafe posthorn_pem_certificate_count(bytes.baseAddress, Int32(clamping: bytes.count)) > 0
        }
    }

    private static func checkPair(_ certificates: [UInt8], _ key: [UInt8]) throws(IdentityError) {
        let verdict = unsafe certificates.withUnsafeBytes { certificates in
            unsafe key.withUnsafeBytes { key in
                unsafe posthorn_pem_is_pair(
                    certificates.baseAddress,
                    Int32(clamping: certificates.count),
                    key.baseAddress,
                    Int32(clamping: key.count)
                )
            }
        }
        switch verdict {
        case 1: return
        case 0: throw .mismatch
        case -1: throw .unreadable(.certificate)
        default: throw .unreadable(.key)
        }
    }
}

extension TLSIdentity: CustomStringConvertible {
    /// Says what there is, never what it is.
    package var description: String {
        "TLS identity (\(authorities == nil ? "system" : "own") authorities, \(pair == nil ? "no" : "a") client certificate)"
    }
}

/// Why certificates and keys cannot be used.
package enum IdentityError: Error, Sendable, Equatable, CustomStringConvertible {
    case unreadable(Part)
    case incomplete(missing: Part)
    /// The key belongs to another certificate.
    case mismatch

    package enum Part: String, Sendable {
        case authorities = "CA file"
        case certificate = "client certificate"
        case key = "client key"
    }

    /// A file that is being replaced is readable again a moment later.
    package var isRetriable: Bool { true }

    package var description: String {
        switch self {
        case .unreadable(let part): "\(part.rawValue) cannot be read as PEM"
        case .incomplete(let missing): "\(missing.rawValue) missing"
        case .mismatch: "client key does not belong to the client certificate"
        }
    }
}
