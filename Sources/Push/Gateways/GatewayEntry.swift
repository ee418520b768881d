/// A gateway on the operator's list: the only places that notifications are sent to (A_27652, gemF_PushNotification).
package struct GatewayEntry: Hashable, Sendable {
    package var origin: GatewayOrigin
    package var dialect: Dialect
    /// Whether loopback, private and similar addresses are allowed for it; for trying out.
    package var allowsPrivate: Bool
    /// Whether it may be `http`; only together with ``allowsPrivate``.
    package var allowsInsecure: Bool
    /// PEM files; nil for the system's authorities and for no client certificate.
    package var caFile: String?
    package var clientCertificateFile: String?
    package var clientKeyFile: String?
    /// How many rejections in a row delete a pusher, 1 to 10, default 1 as the specification says.
    ///
    /// gematik's own gateway tells of any refusal by APNs, also a passing one, as a rejection; 2 is right for it.
    package var confirmRejections: Int

    package static let confirmationsRange = 1...10

    package init(
        origin: GatewayOrigin,
        dialect: Dialect = .gematik12,
        allowsPrivate: Bool = false,
        allowsInsecure: Bool = false,
        caFile: String? = nil,
        clientCertificateFile: String? = nil,
        clientKeyFile: String? = nil,
        confirmRejections: Int = 1
    ) {
        self.origin = origin
        self.dialect = dialect
        self.allowsPrivate = allowsPrivate
        self.allowsInsecure = allowsInsecure
        self.caFile = caFile
        self.clientCertificateFile = clientCertificateFile
        self.clientKeyFile = clientKeyFile
        self.confirmRejections = confirmRejections
    }

    /// Everything that is wrong with it, in words for the operator; empty if it may go on the list.
    package var faults: [String] {
        var faults: [String] = []
        if !origin.isSecure && !allowsInsecure { faults.append("http needs --insecure") }
        if allowsInsecure && !allowsPrivate { faults.append("--insecure needs --allow-private") }
        if origin.isPrivate && !allowsPrivate {
            faults.append("a loopback or private address needs --allow-private")
        }
        if (clientCertificateFile == nil) != (clientKeyFile == nil) {
            faults.append("a client certificate and its key are given together")
        }
        if !Self.confirmationsRange.contains(confirmRejections) { faults.append("confirmations are 1 to 10") }
        return faults
    }
}
