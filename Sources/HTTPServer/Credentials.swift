internal import Cmicrohttpd
internal import Glibc

/// A server's certificate, key and client authorities, as GnuTLS keeps them; read-only once made.
///
/// The corresponding C type is `gnutls_certificate_credentials_t`.
final class Credentials: Sendable {
    private let bits: UInt
    let asksClient: Bool
    /// 0: the client is not asked for a certificate; 1: it is asked; 2: without one the handshake fails.
    let clientRequest: Int32
    /// What libmicrohttpd wants to see at its start, ended by a NUL.
    let certificateText: [UInt8]
    let keyText: [UInt8]

    var pointer: gnutls_certificate_credentials_t? { unsafe OpaquePointer(bitPattern: bits) }

    init(_ paths: Server.TLSPaths) throws(TLSFault) {
        let certificate = try Credentials.read(paths.certificate)
        let key = try Credentials.read(paths.key)
        var authorities: [UInt8]?
        if let path = paths.clientAuthorities { authorities = try Credentials.read(path) }
        var credentials: gnutls_certificate_credentials_t?
        let code = unsafe withDatum(certificate) { certificate in
            unsafe withDatum(key) { key in
                guard let authorities else {
                    return unsafe posthorn_tls_credentials(&credentials, certificate, key, nil)
                }
                return unsafe withDatum(authorities) { authorities in
                    unsafe posthorn_tls_credentials(&credentials, certificate, key, authorities)
                }
            }
        }
        guard code == 0 else { throw .unusable(code: code) }
        bits = UInt(bitPattern: credentials)
        asksClient = authorities != nil
        clientRequest = authorities == nil ? 0 : paths.endsHandshake ? 2 : 1
        certificateText = certificate + [0]
        keyText = key + [0]
    }

    deinit {
        unsafe gnutls_certificate_free_credentials(pointer)
    }

    /// At most 4 MiB.
    private static func read(_ path: String) throws(TLSFault) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(path: path) }
        defer { close(descriptor) }
        var contents: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while contents.count <= 4 << 20 {
            let count = unsafe chunk.withUnsafeMutableBytes {
                unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
            }
            if count == 0 { return contents }
            guard count > 0 else { break }
            contents.append(contentsOf: chunk[..<count])
        }
        throw .unreadable(path: path)
    }
}

private func withDatum<Result>(_ bytes: [UInt8], _ body: (UnsafePointer<gnutls_datum_t>) -> Result) -> Result
{
    var bytes = bytes
    return unsafe bytes.withUnsafeMutableBufferPointer { buffer in
        var datum = unsafe gnutls_datum_t(data: buffer.baseAddress, size: UInt32(clamping: buffer.count))
        return unsafe body(&datum)
    }
}

/// The files of a server's certificates and what is in use of them.
///
/// New handshakes use the newest files that can be used; a half-written one leaves the old in use and shows in ``fault``. Connections keep
/// what they were started with. The core's lock serialises access.
struct CredentialFiles: Sendable {
    private let paths: Server.TLSPaths
    private(set) var current: Credentials
    private(set) var fault: TLSFault?
    private var stamps: [FileStamp?]
    private var nextLook: ContinuousClock.Instant

    init(_ paths: Server.TLSPaths) throws(TLSFault) {
        self.paths = paths
        stamps = CredentialFiles.stamps(of: paths)
        current = try Credentials(paths)
        nextLook = .now + paths.lookEvery
    }

    /// Reads the files again if it is time and they have changed.
    mutating func look(at now: ContinuousClock.Instant) {
        guard now >= nextLook else { return }
        nextLook = now + paths.lookEvery
        let seen = CredentialFiles.stamps(of: paths)
        guard seen != stamps || fault != nil else { return }
        do throws(TLSFault) {
            current = try Credentials(paths)
            stamps = seen
            fault = nil
        } catch {
            fault = error
        }
    }

    private static func stamps(of paths: Server.TLSPaths) -> [FileStamp?] {
        [paths.certificate, paths.key, paths.clientAuthorities].map { $0.flatMap(FileStamp.init(path:)) }
    }
}

/// What changes when a file is replaced or written to.
private struct FileStamp: Equatable, Sendable {
    private let device: UInt
    private let inode: UInt
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    /// nil when there is no such file.
    init?(path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        device = UInt(status.st_dev)
        inode = UInt(status.st_ino)
        size = Int(status.st_size)
        seconds = Int(status.st_mtim.tv_sec)
        nanoseconds = Int(status.st_mtim.tv_nsec)
    }
}

/// What is known of a client's certificate.
enum CertificateCheck: Sendable {
    case absent
    case verified(ClientCertificate)
    /// Not from an authority of ours, expired, or not for clients.
    case refused

    init(of session: OpaquePointer) {
        switch unsafe posthorn_tls_verify_client(session) {
        case 0:
            self = .absent
        case 1:
            var fingerprint = [UInt8](repeating: 0, count: 32)
            var subject = [CChar](repeating: 0, count: 2048)
            var size = subject.count
            guard unsafe posthorn_tls_client_certificate(session, &fingerprint, &subject, &size) == 0 else {
                self = .refused
                return
            }
            let text = String(decoding: subject.prefix(size).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            self = .verified(ClientCertificate(subject: text, fingerprint: fingerprint))
        default:
            self = .refused
        }
    }
}
