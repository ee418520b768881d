import Kafka

/// A record at fault, and the reason that its dead letter must give.
struct Poison {
    let name: String
    let reason: String
    let record: RawRecord

    /// By which a record and its dead letter are known again, where nothing else may be read.
    static let header = "x-poison"

    init(_ name: String, _ reason: String, _ record: RawRecord, isMarked: Bool = true) {
        self.name = name
        self.reason = reason
        self.record = isMarked ? record.adding(Self.header, Array(name.utf8)) : record
    }

    /// The name of the poison that a record is; nil for one that is none.
    static func name(of record: Record) -> String? {
        if let name = record.headers.text(header) { return name }
        return record.key == nil && record.value == nil ? bare : nil
    }

    /// A record with nothing at all: no key, no value, no headers.
    static let bare = "nothing at all"
    static let nothing = Poison(bare, "tombstone", RawRecord(key: nil, value: nil), isMarked: false)

    /// Ten thousand headers that nobody asked for.
    static let crowd = (0..<10_000).map { Header("x-crowd-\($0)", text: "\($0)") }
    static let noUTF8: [UInt8] = [0xff, 0xfe, 0x80, 0x00]
}
