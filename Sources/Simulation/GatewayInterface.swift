/// The ways to send notifications to a gateway, by path.
///
/// | path | body | answer |
/// |---|---|---|
/// | `/push/v1/notifyEncrypted/batch` | `{"notifications":[{"id","notification"}]}`, one device each | results by id |
/// | `/push/v1/notify/batch` | the same, plain text for one or more devices each | results by id |
/// | `/push/v1/notify`, `/_matrix/push/v1/notify` | `{"notification":{…}}` | `{"rejected":[…]}` |
/// | the same, dialect of 2024 | `{"month","ciphertext","devices":[…]}` without a wrapper | `{"status":"success"}` |
///
/// Source: Push Gateway API 1.2.0 and the concept of December 2024 (gematik).
enum GatewayInterface: Sendable {
    case encryptedBatch
    case plainBatch
    case single

    /// - Returns: nil for another path, and for Matrix' own at a gateway that never had it.
    init?(path: String, _ manner: GatewayManner = .specified) {
        if case .reference = manner, path.hasPrefix("/_matrix/") { return nil }
        switch path {
        case "/push/v1/notifyEncrypted/batch": self = .encryptedBatch
        case "/push/v1/notify/batch": self = .plainBatch
        case "/push/v1/notify", "/_matrix/push/v1/notify": self = .single
        default: return nil
        }
    }
}

/// Why a request is answered 400 as a whole.
///
/// In order of priority: the first that applies is told. Source: Push Gateway API 1.2.0, `BatchErrorResponse`.
enum BatchFault: Error, Equatable {
    case invalidFormat
    case tooManyItems(limit: Int)
    case duplicateIDs([String])
    case itemTooLarge(limitKilobytes: Int)
}

/// The devices of an item, or what is wrong with it alone.
struct ReadItem {
    /// nil for single notifications.
    var id: String?
    /// Where the notification lies in the body.
    var range: Range<Int>
    var devices: [ReceivedDevice] = []
    /// Why only this item fails; nil when it is in order.
    var fault: String?

    var pushkeys: [String] { devices.map(\.pushkey) }
}
