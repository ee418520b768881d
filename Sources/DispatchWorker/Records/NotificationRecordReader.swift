internal import Glibc
internal import Kafka
internal import Push

/// Reads what the dispatch stage needs of a record on the notifications topic; its value is looked at from outside only.
///
/// | needed | |
/// |---|---|
/// | key | the pusher's id as text |
/// | value | not empty, an object by its first and last byte |
/// | `id` | notification id |
/// | `user` | user id |
/// | `gateway` | the URL to send to, whose form its route checks |
/// | `format` | ``NotificationFormat`` |
/// | `app` | not empty |
/// | `registered`, `expires` | Unix milliseconds, decimal |
///
/// Each comes once. `x-dlq-attempts`, ``RetryHeader/count`` and ``RetryHeader/notBefore`` of earlier failures are read if they are there. All
/// other headers are of no concern here and stay with the record.
struct NotificationRecordReader {
    /// A record that can be sent.
    struct Notification {
        var id: NotificationID
        var endpoint: [UInt8]
        var app: [UInt8]
        var format: NotificationFormat
        var expires: Timestamp
        var attempts: Int
        var handOvers: Int
        /// Its gateway asked for so much time.
        var notBefore: Timestamp?
    }

    enum Result {
        case notification(Notification)
        case faulty(DeadLetterReason, String)
    }

    /// The end of the year 9999: later moments are mistakes, and PostgreSQL could not take all of them.
    static let latest: Int64 = 253_402_300_799_999

    private var endpoints = Lately()
    private var apps = Lately()
    private var fields = Fields()

    mutating func read(_ record: Record) -> Result {
        guard !record.isTombstone else { return .faulty(.tombstone, "the record has no value") }
        guard !record.hasUnreadableHeaders else { return malformed("its headers cannot be read") }
        guard record.withKey({ PusherID(text: $0) != nil }) == true else {
            return malformed("key: no pusher id")
        }
        guard record.withValue({ Self.isObject($0) }) == true else {
            return malformed("value: no JSON object")
        }
        fields = Fields()
        takeHeaders(record.headers)
        if let fault = fields.fault { return malformed(fault) }
        guard let id = fields.id else { return missing("id") }
        guard let format = fields.format else { return missing("format") }
        guard let expires = fields.expires else { return missing("expires") }
        guard fields.hasUser else { return missing("user") }
        guard let endpoint = fields.endpoint else { return missing("gateway") }
        guard let app = fields.app else { return missing("app") }
        guard fields.hasRegistered else { return missing("registered") }
        return .notification(
            Notification(
                id: id,
                endpoint: endpoint,
                app: app,
                format: format,
                expires: Timestamp(milliseconds: expires),
                attempts: fields.attempts,
                handOvers: fields.handOvers,
                notBefore: fields.notBefore.map { Timestamp(milliseconds: $0) }
            )
        )
    }

    private static func isObject(_ value: Span<UInt8>) -> Bool {
        value.count >= 2 && value[0] == UInt8(ascii: "{") && value[value.count - 1] == UInt8(ascii: "}")
    }

    private func malformed(_ what: String) -> Result { .faulty(.malformedNotification, what) }
    private func missing(_ header: String) -> Result { malformed("\(header): missing") }

    /// What was found so far.
    private struct Fields {
        var id: NotificationID?
        var format: NotificationFormat?
        var expires: Int64?
        var hasUser = false
        var endpoint: [UInt8]?
        var app: [UInt8]?
        var hasRegistered = false
        var attempts = 0
        var handOvers = 0
        var notBefore: Int64?
        private(set) var fault: String?

        mutating func note(_ header: StaticString, _ isFirst: Bool, _ isSound: Bool) {
            guard fault == nil, !(isFirst && isSound) else { return }
            fault = "\(header): \(isFirst ? "not as it must be" : "repeated")"
        }
    }

    private mutating func takeHeaders(_ headers: Headers) {
        headers.forEachLent { name, value, _ in
            switch name.count {
            case 2 where name.spells("id"):
                fields.note("id", fields.id == nil, take(id: value))
            case 3 where name.spells("app"):
                fields.note("app", fields.app == nil, !value.isEmpty)
                fields.app = apps.copy(of: value)
            case 4 where name.spells("user"):
                fields.note("user", !fields.hasUser, UserID.isValid(value))
                fields.hasUser = true
            case 6 where name.spells("format"):
                let format = NotificationFormat(value)
                fields.note("format", fields.format == nil, format != nil)
                fields.format = format
            case 7 where name.spells("gateway"):
                fields.note("gateway", fields.endpoint == nil, take(endpoint: value))
            case 7 where name.spells("expires"):
                let expires = Self.moment(value)
                fields.note("expires", fields.expires == nil, expires != nil)
                fields.expires = expires
            case 10 where name.spells("registered"):
                fields.note("registered", !fields.hasRegistered, Self.moment(value) != nil)
                fields.hasRegistered = true
            case 13 where name.spells(RetryHeader.count):
                fields.handOvers = Self.count(value)
            case 14 where name.spells("x-dlq-attempts"):
                fields.attempts = Self.count(value)
            case 18 where name.spells(RetryHeader.notBefore):
                fields.notBefore = Self.moment(value)
            default: break
            }
        }
    }

    private mutating func take(id value: Span<UInt8>) -> Bool {
        fields.id = NotificationID(text: value)
        return fields.id != nil
    }

    private mutating func take(endpoint value: Span<UInt8>) -> Bool {
        guard !value.isEmpty, value.count <= GatewayURL.maximumLength + 64 else { return false }
        fields.endpoint = endpoints.copy(of: value)
        return true
    }

    /// Unix milliseconds up to ``latest``.
    static func moment(_ text: Span<UInt8>) -> Int64? {
        guard (1...15).contains(text.count), let value = Digits.read(text, count: text.count),
            value <= latest
        else { return nil }
        return value
    }

    private static func count(_ text: Span<UInt8>) -> Int {
        guard (1...6).contains(text.count), let value = Digits.read(text, count: text.count) else { return 0 }
        return Int(value)
    }
}

/// The values of a header met last: most records have one of them, and then nothing is allocated.
private struct Lately {
    private var values: [[UInt8]] = []
    private static let limit = 32
    /// Longer ones are not remembered.
    private static let lengthLimit = GatewayURL.maximumLength + 64

    mutating func copy(of value: Span<UInt8>) -> [UInt8] {
        if let known = values.first(where: { value.equals($0) }) { return known }
        var copy: [UInt8] = []
        copy.reserveCapacity(value.count)
        for index in value.indices { copy.append(value[index]) }
        guard copy.count <= Self.lengthLimit else { return copy }
        if values.count == Self.limit { values.removeFirst() }
        values.append(copy)
        return copy
    }
}

/// What a record on a retry topic carries beside its failure headers; dropped when it leaves the ladder.
enum RetryHeader {
    /// How often it was handed to a retry topic.
    static let count: StaticString = "x-retry-count"
    /// Unix milliseconds before which it is not to be tried.
    static let due: StaticString = "x-retry-due"
    /// Unix milliseconds before which its gateway does not want it; only where that is after ``due``.
    static let notBefore: StaticString = "x-retry-not-before"

    /// Whether a name begins as these do.
    static func mayBeOne(_ name: Span<UInt8>) -> Bool {
        name.count > 2 && name[0] == UInt8(ascii: "x") && name[1] == UInt8(ascii: "-")
    }

    static func isOne(_ name: String) -> Bool {
        name.utf8.starts(with: "x-retry-".utf8)
            && [count.description, due.description, notBefore.description].contains(name)
    }

    /// The moment in ``due``; nil without one that makes sense.
    static func due(of record: Record) -> Timestamp? {
        let moment = record.headers.withValue("x-retry-due") { NotificationRecordReader.moment($0) } ?? nil
        return moment.map { Timestamp(milliseconds: $0) }
    }
}

extension Span<UInt8> {
    /// Whether these are the bytes of `text`, which has as many.
    func spells(_ text: StaticString) -> Bool {
        guard text.utf8CodeUnitCount == count else { return false }
        return text.withUTF8Buffer { expected in
            for index in indices where unsafe self[index] != expected[index] { return false }
            return true
        }
    }

    /// The corresponding C function is `memcmp`.
    func equals(_ other: [UInt8]) -> Bool {
        guard count == other.count else { return false }
        return unsafe withUnsafeBytes { own in
            unsafe other.withUnsafeBytes { other in
                guard let own = own.baseAddress, let other = other.baseAddress else {
                    return true
                }
                return unsafe memcmp(own, other, count) == 0
            }
        }
    }
}
