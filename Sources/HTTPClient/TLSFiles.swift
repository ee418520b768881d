internal import Glibc

/// The certificate files of a destination, read again when they change.
///
/// Certificates are renewed under a running worker. Ask for ``current(at:)`` before each request: at most once in an interval it
/// looks at the files, and only what has changed and can be used takes the place of what was there. A half-written file or a key that
/// does not belong to its certificate (yet) leaves the old identity in use and is told in ``fault``, for the alarm.
package struct TLSFiles: ~Copyable {
    private let paths: Paths
    private let interval: Duration
    private var identity: TLSIdentity
    private var stamps: [FileStamp?]
    private var nextLook: ContinuousClock.Instant
    /// Why the files on disk are not in use; nil when they are.
    package private(set) var fault: IdentityError?

    package struct Paths: Sendable, Equatable {
        /// PEM of the authorities to trust; nil: the system's.
        package var authorities: String?
        /// PEM of the client certificate with its chain, and its key; both or none.
        package var certificate: String?
        package var key: String?

        package init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
            self.authorities = authorities
            self.certificate = certificate
            self.key = key
        }

        fileprivate var all: [String?] { [authorities, certificate, key] }
    }

    /// - Parameters:
    ///   - paths: the files; those that are nil play no part.
    ///   - interval: time between two looks at the files; default 10 s.
    /// - Throws: ``IdentityError`` when the files cannot be used now: a start with wrong files should fail.
    package init(_ paths: Paths, lookingEvery interval: Duration = .seconds(10)) throws(IdentityError) {
        self.paths = paths
        self.interval = interval
        stamps = paths.all.map { $0.flatMap(FileStamp.init(path:)) }
        identity = try TLSFiles.load(paths)
        nextLook = .now + interval
    }

    /// The identity to use now.
    package mutating func current(at now: ContinuousClock.Instant = .now) -> TLSIdentity {
        guard now >= nextLook else { return identity }
        nextLook = now + interval
        let seen = paths.all.map { $0.flatMap(FileStamp.init(path:)) }
        guard seen != stamps || fault != nil else { return identity }
        do throws(IdentityError) {
            identity = try TLSFiles.load(paths)
            stamps = seen
            fault = nil
        } catch {
            fault = error
        }
        return identity
    }

    private static func load(_ paths: Paths) throws(IdentityError) -> TLSIdentity {
        try TLSIdentity(
            authorities: try read(paths.authorities, as: .authorities),
            certificates: try read(paths.certificate, as: .certificate),
            key: try read(paths.key, as: .key)
        )
    }

    /// At most 4 MiB: a bundle of authorities has about 200 KiB.
    private static func read(_ path: String?, as part: IdentityError.Part) throws(IdentityError) -> [UInt8]? {
        guard let path else { return nil }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(part) }
        defer { close(descriptor) }
        var contents: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while contents.count <= 4 << 20 {
            let count = unsafe chunk.withUnsafeMutableBytes {
                unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
            }
            if count == 0 { return contents }
            guard count > 0 else { throw .unreadable(part) }
            contents.append(contentsOf: chunk[..<count])
        }
        throw .unreadable(part)
    }
}

/// What changes when a file is replaced or written to.
private struct FileStamp: Equatable {
    private let device: UInt
    private let inode: UInt
    private let size: Int
    private let modified: Int
    private let modifiedNanoseconds: Int

    /// nil when there is no such file.
    init?(path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        device = UInt(status.st_dev)
        inode = UInt(status.st_ino)
        size = Int(status.st_size)
        modified = Int(status.st_mtim.tv_sec)
        modifiedNanoseconds = Int(status.st_mtim.tv_nsec)
    }
}
