import Testing

@testable import Push

struct TriggerEventTests {
    static let now = Timestamp(milliseconds: 1_700_000_000_000)
    static let base: [(String, [UInt8]?)] = [
        ("ce_specversion", utf8("1.0")), ("ce_id", utf8("e-1")), ("ce_source", utf8("/erp")),
        ("ce_type", utf8("erp.task.activate")), ("ce_subject", utf8("X110411675")),
    ]

    static func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }

    static func read(
        _ headers: [(String, [UInt8]?)],
        value: [UInt8]? = utf8("hello"),
        timestamp: Int64 = 1_600_000_000_000
    ) throws(TriggerEventError) -> TriggerRecord {
        var reader = TriggerEventReader()
        for (name, value) in headers { reader.take(header: name, value) }
        return try reader.finish(value: value, recordTimestamp: timestamp, now: now)
    }

    /// The base with one header more, or with another value.
    static func with(_ name: String, _ value: [UInt8]?) -> [(String, [UInt8]?)] {
        base.filter { $0.0 != name } + [(name, value)]
    }

    private func event(_ record: TriggerRecord) throws -> TriggerEvent {
        guard case .event(let event) = record else { throw TriggerEventError(.malformed, "a tombstone") }
        return event
    }

    @Test func `binary mode takes attributes from headers and the value as it is`() throws {
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let event = try event(
            Self.read(
                Self.base + [
                    ("ce_time", Self.utf8("2024-01-01T00:00:00Z")), ("ce_channel", Self.utf8("erp.task")),
                    ("ce_priority", Self.utf8("low")), ("ce_expirytime", Self.utf8("2024-01-02T00:00:00Z")),
                    ("ce_identifier", Self.utf8("audit-7")), ("ce_traceparent", Self.utf8(trace)),
                    ("ce_other", nil),
                    ("x", Self.utf8("y")),
                ],
                value: [0, 255, 10]
            )
        )
        #expect(event.id == Self.utf8("e-1"))
        #expect(event.source == Self.utf8("/erp"))
        #expect(event.type == Self.utf8("erp.task.activate"))
        #expect(event.user == Self.utf8("X110411675"))
        #expect(event.channel == Self.utf8("erp.task"))
        #expect(event.priority == .low)
        #expect(event.created.rfc3339 == "2024-01-01T00:00:00.000Z")
        #expect(event.expires.rfc3339 == "2024-01-02T00:00:00.000Z")
        #expect(event.identifier == Self.utf8("audit-7"))
        #expect(event.traceparent == Self.utf8(trace))
        #expect(event.content == [0, 255, 10])
    }

    @Test func `without time an event is as old as its record, and lives 12 hours`() throws {
        let event = try event(Self.read(Self.base))
        #expect(event.created.milliseconds == 1_600_000_000_000)
        #expect(event.expires.milliseconds == 1_600_000_000_000 + 12 * 3_600_000)
        #expect(!event.isExpired(at: Timestamp(milliseconds: event.expires.milliseconds - 1)))
        #expect(event.isExpired(at: event.expires))
        #expect(
            event.channel == nil && event.priority == nil && event.identifier == nil
                && event.traceparent == nil
        )
        #expect(try self.event(Self.read(Self.base, timestamp: -1)).created == Self.now)
    }

    @Test func `K1 a null value is a tombstone whatever the headers say`() throws {
        #expect(try Self.read(Self.base, value: nil) == .tombstone)
        #expect(try Self.read([], value: nil) == .tombstone)
        #expect(try event(Self.read(Self.base, value: [])).content.isEmpty)
    }

    @Test(arguments: ["ce_specversion", "ce_id", "ce_source", "ce_type", "ce_subject"])
    func `K2 a required attribute is neither absent nor null nor empty`(name: String) {
        for headers in [Self.base.filter { $0.0 != name }, Self.with(name, nil), Self.with(name, [])] {
            let error = #expect(throws: TriggerEventError.self) { _ = try Self.read(headers) }
            #expect(error?.reason == .missingAttribute)
            #expect(error?.attribute == String(name.dropFirst(3)))
        }
    }

    @Test(
        arguments: [
            ("ce_id", 256), ("ce_source", 256), ("ce_type", 256), ("ce_subject", 128), ("ce_channel", 64),
            ("ce_identifier", 128),
        ]
    )
    func `every text has a limit`(name: String, limit: Int) throws {
        _ = try Self.read(Self.with(name, [UInt8](repeating: 0x61, count: limit)))
        let error = #expect(throws: TriggerEventError.self) {
            _ = try Self.read(Self.with(name, [UInt8](repeating: 0x61, count: limit + 1)))
        }
        #expect(error?.reason == .invalidAttribute)
        #expect(error?.attribute == String(name.dropFirst(3)))
        #expect(error?.problem.contains("\(limit)") == true)
    }

    @Test(
        arguments: [
            ("ce_specversion", "0.3"), ("ce_specversion", "1.0.2"), ("ce_subject", "-a"),
            ("ce_subject", "a b"),
            ("ce_subject", "é"), ("ce_channel", ".a"), ("ce_channel", "a/b"), ("ce_priority", "High"),
            ("ce_priority", "normal"), ("ce_priority", "lo"), ("ce_time", "yesterday"),
            ("ce_expirytime", "1700000000"),
            ("ce_id", "a\u{0}b"), ("ce_id", "a\nb"), ("ce_source", "a\u{7F}"), ("ce_type", "a\u{85}"),
            ("ce_identifier", "\t"),
        ]
    )
    func `a value that is not allowed names its attribute`(name: String, value: String) {
        let error = #expect(throws: TriggerEventError.self) {
            _ = try Self.read(Self.with(name, Self.utf8(value)))
        }
        #expect(error?.reason == .invalidAttribute)
        #expect(error?.attribute == String(name.dropFirst(3)))
        #expect(error?.description.contains(value) == false || value == "lo")
    }

    @Test(arguments: [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0x61, 0xF5]] as [[UInt8]])
    func `K2 bytes that are no UTF-8 are an invalid attribute`(value: [UInt8]) {
        let error = #expect(throws: TriggerEventError.self) { _ = try Self.read(Self.with("ce_id", value)) }
        #expect(error?.reason == .invalidAttribute)
    }

    @Test func `K2 an attribute that comes twice is invalid, an unknown header may`() throws {
        let error = #expect(throws: TriggerEventError.self) {
            _ = try Self.read(Self.base + [("ce_id", Self.utf8("e-1"))])
        }
        #expect(error?.attribute == "id")
        _ = try Self.read(Self.base + Array(repeating: ("x-any", nil), count: 10_000))
    }

    @Test func `a broken trace costs no message`() throws {
        for value in ["", "00-0-0-0", "00-00000000000000000000000000000000-b7ad6b7169203331-01"] {
            #expect(try event(Self.read(Self.with("ce_traceparent", Self.utf8(value)))).traceparent == nil)
        }
        let trace = Self.utf8("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
        #expect(try event(Self.read(Self.base + [("traceparent", trace)])).traceparent == trace)
    }

    @Test func `content of 1018 bytes fits, 1019 is too large`() throws {
        _ = try Self.read(Self.base, value: [UInt8](repeating: 0, count: 1018))
        let error = #expect(throws: TriggerEventError.self) {
            _ = try Self.read(Self.base, value: [UInt8](repeating: 0, count: 1019))
        }
        #expect(error?.reason == .contentTooLarge)
    }

    @Test func `a record without any attribute is malformed`() {
        for headers: [(String, [UInt8]?)] in [
            [], [("a", nil)], [("content-type", Self.utf8("application/json"))],
        ] {
            let error = #expect(throws: TriggerEventError.self) {
                _ = try Self.read(headers, value: Self.utf8("{}"))
            }
            #expect(error?.reason == .malformed)
        }
    }
}
