/// What the body of `POST /pushers/set` asks for.
package enum PusherCommand {
    /// Create the pusher of this user, app and pushkey, or replace it.
    case set(PusherRegistration)
    /// `kind` null: delete it, its keys and its channel settings.
    case remove(PusherAddress)
}

/// What names a device within a user, app and pushkey; prints without the pushkey.
package struct PusherAddress: Hashable, Sendable {
    /// Reverse DNS, at most 64 characters.
    package var appID: String
    /// The push provider's token, at most 512 bytes.
    package var pushkey: String

    package init(appID: String, pushkey: String) {
        self.appID = appID
        self.pushkey = pushkey
    }
}

extension PusherAddress: CustomStringConvertible, CustomReflectable {
    package var description: String { "\(appID)/redacted" }

    package var customMirror: Mirror { Mirror(self, children: ["appID": appID]) }
}

/// A pusher as a device registers it, every field within its limit.
///
/// | field | limit |
/// |---|---|
/// | pushkey | 1 to 512 bytes |
/// | app_id | 1 to 64 characters |
/// | app_display_name, device_display_name, profile_tag | 256 bytes |
/// | lang | 1 to 64 bytes |
/// | data | 4096 bytes, ``GatewayURL`` in it |
/// | encryption | ``RegisteredKeys`` |
///
/// All text is UTF-8 without control characters. Source: Client-FD Push API 1.2, `Pusher`; the limits of names,
/// language and data are ours.
package struct PusherRegistration {
    package var address: PusherAddress
    package var appDisplayName: String
    package var deviceDisplayName: String
    package var language: String
    package var profileTag: String?
    /// `data.url`.
    package var url: GatewayURL
    /// `data` without `url` as a compact JSON object, to be forwarded with every message; nil if nothing is left.
    package var data: [UInt8]?
    /// nil for a pusher whose messages are not sealed.
    package var keys: RegisteredKeys?
    /// Whether other users' pushers of the same address stay; otherwise the device has changed hands and they go.
    package var append: Bool

    package static let pushkeyLimit = 512
    package static let appIDLimit = 64
    package static let nameLimit = 256
    package static let languageLimit = 64
    package static let dataLimit = 4096

    /// Checks that messages can be sent to it.
    ///
    /// - Parameters:
    ///   - gateway: the entry of the operator's list for its URL's origin; nil if there is none.
    ///   - prefix: stands before the field's name in an error, such as `pusher.`.
    /// - Throws: ``RegistrationError`` of kind `invalid` or `missing`.
    package func check(against gateway: GatewayEntry?, prefix: String = "") throws(RegistrationError) {
        let field = prefix + "data.url"
        guard let gateway, gateway.origin == url.origin else {
            throw RegistrationError(.invalid, field: field, "is at no gateway of the operator's list")
        }
        guard url.origin.isSecure || gateway.allowsInsecure, !url.origin.isPrivate || gateway.allowsPrivate
        else {
            throw RegistrationError(
                .invalid,
                field: field,
                "is at an address that the gateway's entry does not allow"
            )
        }
        guard url.fits(gateway.dialect) else {
            let ending = gateway.dialect == .gematik12 ? "/push/v1/" : "/push/v1/notify"
            throw RegistrationError(.invalid, field: field, "does not end in \(ending)")
        }
        switch gateway.dialect {
        case .gematik12:
            if let keys, keys.identifier == nil {
                throw RegistrationError(.missing, field: prefix + "encryption.key_identifier", "missing")
            }
        case .concept2024:
            if keys == nil { throw RegistrationError(.missing, field: prefix + "encryption", "missing") }
        }
    }
}

/// `encryption` of a registration: what the first generation of keys is made of.
package struct RegisteredKeys {
    /// Prints as `redacted` and is wiped with its last copy.
    package var initialSecret: InitialSecret
    /// `time_iss_created`.
    package var month: Month
    /// `key_identifier`, 1 to 128 bytes; optional here, since `concept-2024` has none.
    package var identifier: String?

    package static let method = "aes-hmac-sha256"
    package static let identifierLimit = 128
}

/// What a user wants of a channel.
package enum ChannelStatus: String, Hashable, Sendable, CaseIterable {
    case enabled
    case disabled
    /// Treated as disabled.
    case notSet = "not_set"
}
