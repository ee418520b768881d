import JSON

/// A request that a gateway refused as a whole.
package struct Refusal: Hashable, Sendable {
    /// 400, 413 or 422.
    package var status: Int
    package var kind: Kind

    /// The documented faults; any other body is ``unnamed``, also that of the gateway's web framework.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case invalidFormat = "Invalid data format"
        case tooManyItems = "Batch size exceeds maximum limit"
        case duplicateIDs = "Duplicate notification IDs in batch"
        case itemTooLarge = "Individual notification too large"
        case batchTooLarge = "Batch request payload is too large."
        case notificationTooLarge = "Notification object is too large."
        case unnamed = ""
    }

    /// Reads the error's text and nothing else: the rest is for people, and may repeat what was sent.
    package init(status: Int, body: [UInt8]) {
        self.status = status
        let text = try? Reader.read(body) { reader throws(ReadError) in
            var text: String?
            try reader.readObject { name, reader throws(ReadError) in
                if name == "error", try reader.peek() == .string { text = try reader.readString() }
            }
            return text
        }
        kind = text.flatMap { Kind(rawValue: $0) } ?? .unnamed
    }

    /// The reason of the dead letter if the request held one record alone.
    package var reasonWhenAlone: DeadLetterReason {
        switch kind {
        case .itemTooLarge, .batchTooLarge, .notificationTooLarge: .notificationTooLarge
        case .invalidFormat, .tooManyItems, .duplicateIDs: .messageRefused
        case .unnamed: status == 413 ? .notificationTooLarge : .messageRefused
        }
    }
}

extension Refusal: CustomStringConvertible {
    package var description: String {
        kind == .unnamed ? "status \(status)" : "status \(status): \(kind.rawValue)"
    }
}
