internal import HTTPClient
internal import Push

/// How one gateway on the list is reached: its entry, and its certificate files as they are now.
///
/// The files are looked at again while the worker runs. New ones that cannot be used leave the old ones in use; an entry whose files could
/// never be used gives no access, and is looked at again all the same.
final class GatewayAccess {
    let entry: GatewayEntry
    /// Why the files on disk are not in use; nil when they are, or when there are none.
    private(set) var fault: IdentityError?
    private var files: TLSFiles?
    private var nextLook = ContinuousClock.now
    private let interval: Duration

    init(_ entry: GatewayEntry, lookingEvery interval: Duration) {
        self.entry = entry
        self.interval = interval
    }

    /// What the client needs to know; nil while the certificate files cannot be used, as ``fault`` tells.
    func destination() -> HTTPClient.Destination? {
        var destination = HTTPClient.Destination(
            allowsPrivateAddresses: entry.allowsPrivate,
            allowsPlainText: entry.allowsInsecure
        )
        guard entry.caFile != nil || entry.clientCertificateFile != nil else { return destination }
        if files == nil { load() }
        guard let identity = files?.current() else { return nil }
        fault = files?.fault
        destination.identity = identity
        return destination
    }

    /// Looks at the files if it is time to.
    func look() { _ = destination() }

    private func load() {
        guard ContinuousClock.now >= nextLook else { return }
        nextLook = .now + interval
        let paths = TLSFiles.Paths(
            authorities: entry.caFile,
            certificate: entry.clientCertificateFile,
            key: entry.clientKeyFile
        )
        do throws(IdentityError) {
            files = try TLSFiles(paths, lookingEvery: interval)
            fault = nil
        } catch {
            fault = error
        }
    }
}
