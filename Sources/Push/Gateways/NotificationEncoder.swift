import JSON

/// Writes a sealed notification in its final bytes, once; nothing parses them again on their way.
///
/// The ciphertext goes between two calls, so that sealing and Base64 can write straight into the same buffer:
///
/// ```swift
/// let encoder = NotificationEncoder(.gematik12Encrypted)
/// encoder.appendBeforeCiphertext(id: id, month: month, to: &output)
/// /* append Base64(IV ‖ ciphertext ‖ tag) */
/// encoder.appendAfterCiphertext(month: month, keyIdentifier: key, identifier: nil, priority: .high, to: &output)
/// encoder.appendDevice(appID: app, pushkey: pushkey, registered: registered, data: data, to: &output)
/// ```
///
/// | gematik-1.2 | `{"id":…,"notification":{"ciphertext":…,"time_message_encrypted":…,"key_identifier":…[,"identifier":…][,"prio":…],"device":{…}}}` |
/// |---|---|
/// | concept-2024 | `{"month":…,"ciphertext":…[,"prio":…],"devices":[{…}]}` |
///
/// Text is taken for valid UTF-8: it was checked when it came in. Source: Push Gateway API 1.2,
/// `EncryptedNotification`; the concept of December 2024.
package struct NotificationEncoder: Sendable {
    package let dialect: Dialect

    package init(_ dialect: Dialect) {
        self.dialect = dialect
    }

    /// The format that it writes.
    package var format: NotificationFormat {
        switch dialect {
        case .gematik12: .gematik12Encrypted
        case .concept2024: .concept2024
        }
    }

    /// Appends everything up to the quotation mark before the ciphertext.
    package func appendBeforeCiphertext(id: NotificationID, month: Month, to output: inout [UInt8]) {
        switch dialect {
        case .gematik12:
            output.append(#"{"id":""#)
            id.uuid.appendText(to: &output)
            output.append(#"","notification":{"ciphertext":""#)
        case .concept2024:
            output.append(#"{"month":""#)
            month.append(to: &output)
            output.append(#"","ciphertext":""#)
        }
    }

    /// Appends what follows the ciphertext, from its closing quotation mark up to the device.
    ///
    /// - Parameters:
    ///   - month: the month of the key.
    ///   - keyIdentifier: the device's name for its chain; not sent in `concept-2024`.
    ///   - identifier: the reference for the history; not sent in `concept-2024`.
    ///   - priority: nil leaves `prio` out, which means high.
    ///   - output: where it is appended.
    package func appendAfterCiphertext(
        month: Month,
        keyIdentifier: Span<UInt8>,
        identifier: [UInt8]?,
        priority: Priority?,
        to output: inout [UInt8]
    ) {
        switch dialect {
        case .gematik12:
            output.append(#"","time_message_encrypted":""#)
            month.append(to: &output)
            output.append(#"","key_identifier":"#)
            output.appendJSONString(keyIdentifier)
            if let identifier {
                output.append(#","identifier":"#)
                output.appendJSONString(identifier.span)
            }
            output.append(priority)
            output.append(#","device":"#)
        case .concept2024:
            output.append(UInt8(ascii: "\""))
            output.append(priority)
            output.append(#","devices":["#)
        }
    }

    /// Appends the device and the end.
    ///
    /// - Parameters:
    ///   - appID: `app_id`.
    ///   - pushkey: `pushkey`.
    ///   - registered: `pushkey_ts`, sent in whole seconds.
    ///   - data: the pusher's `data` without `url`, a JSON object as it is; empty leaves it out.
    ///   - output: where it is appended.
    package func appendDevice(
        appID: Span<UInt8>,
        pushkey: Span<UInt8>,
        registered: Timestamp,
        data: Span<UInt8>,
        to output: inout [UInt8]
    ) {
        output.appendDevice(appID: appID, pushkey: pushkey, registered: registered, data: data)
        switch dialect {
        case .gematik12: output.append("}}")
        case .concept2024: output.append("]}")
        }
    }
}

extension [UInt8] {
    /// Appends a literal.
    mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { unsafe append(contentsOf: $0) }
    }

    fileprivate mutating func append(_ priority: Priority?) {
        switch priority {
        case .high: append(#","prio":"high""#)
        case .low: append(#","prio":"low""#)
        case nil: break
        }
    }

    /// Appends a `Device` object: app_id, pushkey, pushkey_ts, and data unless it is empty.
    mutating func appendDevice(
        appID: Span<UInt8>,
        pushkey: Span<UInt8>,
        registered: Timestamp,
        data: Span<UInt8>
    ) {
        append(#"{"app_id":"#)
        appendJSONString(appID)
        append(#","pushkey":"#)
        appendJSONString(pushkey)
        append(#","pushkey_ts":"#)
        Digits.append(registered.seconds, to: &self)
        if !data.isEmpty {
            append(#","data":"#)
            appendBytes(data)
        }
        append("}")
    }
}
