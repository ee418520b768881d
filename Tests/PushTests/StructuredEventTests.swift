import Testing

@testable import Push

struct StructuredEventTests {
    private static func document(_ more: String) -> [UInt8] {
        Array(
            #"{"specversion":"1.0","id":"e-1","source":"/erp","type":"t","subject":"X110411675"\#(more)}"#
                .utf8
        )
    }

    private static func read(
        _ document: [UInt8],
        type: String = "application/cloudevents+json"
    ) throws -> TriggerEvent {
        let headers: [(String, [UInt8]?)] = [
            ("content-type", Array(type.utf8)), ("ce_id", Array("ignored".utf8)),
        ]
        guard case .event(let event) = try TriggerEventTests.read(headers, value: document) else {
            throw TriggerEventError(.malformed, "a tombstone")
        }
        return event
    }

    @Test(
        arguments: [
            (#","data":{"a" : 1}"#, #"{"a" : 1}"#), (#","data":"text""#, #""text""#),
            (#","data":[1,2]"#, "[1,2]"),
            (#","data":12.50"#, "12.50"), (#","data":null"#, ""), ("", ""),
            (#","data_base64":"aGVsbG8=""#, "hello"),
            (#","data":"te\nxt","datacontenttype":"text/plain""#, "te\nxt"),
            (#","datacontenttype":"application/fhir+json; charset=utf-8","data":"x""#, #""x""#),
            (#","datacontenttype":"text/plain","data":{"a":1}"#, #"{"a":1}"#),
        ]
    )
    func `data becomes the content by its content type`(more: String, content: String) throws {
        #expect(try Self.read(Self.document(more)).content == Array(content.utf8))
    }

    @Test(arguments: [
        "application/cloudevents+json; charset=utf-8", "Application/CloudEvents+JSON;charset=UTF-8",
    ])
    func `structured mode is told by the media type`(type: String) throws {
        let event = try Self.read(
            Self.document(#","priority":"high","channel":"c","time":"2024-01-01T00:00:00Z""#),
            type: type
        )
        #expect(event.id == Array("e-1".utf8))
        #expect(event.priority == .high)
        #expect(event.channel == Array("c".utf8))
        #expect(event.created.rfc3339 == "2024-01-01T00:00:00.000Z")
    }

    @Test(arguments: [
        "application/cloudevents-batch+json", "application/cloudevents+avro", "application/cloudevents",
    ])
    func `other forms of CloudEvents are malformed`(type: String) {
        let error = #expect(throws: TriggerEventError.self) { try Self.read(Self.document(""), type: type) }
        #expect(error?.reason == .malformed)
    }

    @Test(
        arguments: [
            "", "null", "[]", "{", #"{"id":"#, "hello", #"{"id":"a","id":"b"}"#, #"{"id":"\ud800"}"#, "{} {}",
            "{}",
        ]
    )
    func `what is no event is malformed`(text: String) {
        let error = #expect(throws: TriggerEventError.self) { try Self.read(Array(text.utf8)) }
        #expect(error?.reason == .malformed)
    }

    @Test(
        arguments: [
            (#","data":1,"data_base64":"aGVsbG8=""#, DeadLetterReason.malformed, nil),
            (#","data_base64":"aGVsbG8""#, .malformed, "data_base64"),
            (#","data_base64":"aGVsbG9=""#, .malformed, "data_base64"),
            (#","data_base64":"aGVs bG8=""#, .malformed, "data_base64"),
            (#","data_base64":7"#, .malformed, "data_base64"),
            (#","priority":true"#, .invalidAttribute, "priority"),
            (#","channel":["c"]"#, .invalidAttribute, "channel"),
            (#","expirytime":1700000000"#, .invalidAttribute, "expirytime"),
        ] as [(String, DeadLetterReason, String?)]
    )
    func `a fault names its field`(more: String, reason: DeadLetterReason, attribute: String?) {
        let error = #expect(throws: TriggerEventError.self) { try Self.read(Self.document(more)) }
        #expect(error?.reason == reason)
        #expect(error?.attribute == attribute)
    }

    @Test func `null attributes are absent, unknown ones ignored`() throws {
        let event = try Self.read(Self.document(#","channel":null,"priority":null,"other":{"a":[1]},"n":5"#))
        #expect(event.channel == nil)
        #expect(event.priority == nil)
    }

    @Test func `publishing turns a line into binary mode and back`() throws {
        let line = Self.document(
            #","time":"2024-01-01T00:00:00Z","priority":"low","datacontenttype":"application/json","myext":5,"flag":true,"data":{"a":1}"#
        )
        let outgoing = try PublishableEvent(structured: line, now: TriggerEventTests.now)
        #expect(outgoing.key == Array("X110411675".utf8))
        #expect(outgoing.value == Array(#"{"a":1}"#.utf8))
        #expect(outgoing.headers.contains(RecordHeader("ce_myext", "5")))
        #expect(outgoing.headers.contains(RecordHeader("ce_flag", "true")))
        #expect(outgoing.headers.contains(RecordHeader("content-type", "application/json")))
        let headers = outgoing.headers.map { ($0.name, $0.value) }
        let record = try TriggerEventTests.read(headers, value: outgoing.value)
        #expect(record == .event(outgoing.event))
        #expect(try record == .event(Self.read(line)))
    }

    @Test(
        arguments: [
            (#","priority":"urgent""#, "priority"),
            (#","datacontenttype":"application/cloudevents+json""#, "datacontenttype"),
            (#","data_base64":"!""#, "data_base64"), (#","time":"now""#, "time"),
        ]
    )
    func `a line that would become a dead letter is not published`(more: String, field: String) {
        let error = #expect(throws: TriggerEventError.self) {
            try PublishableEvent(structured: Self.document(more), now: TriggerEventTests.now)
        }
        #expect(error?.attribute == field)
    }

    @Test(arguments: ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="])
    func `Base64 of RFC 4648 is read`(text: String) {
        let expected = ["": "", "Zg==": "f", "Zm8=": "fo", "Zm9v": "foo", "Zm9vYg==": "foob"]
        #expect(
            Base64Text.decode(text).map { String(decoding: $0, as: UTF8.self) } == expected[text]
        )
    }

    @Test(arguments: ["Z", "Zg", "Zg=", "Zh==", "Zm9=", "Zg===", "====", "=", "Zm9v\n", "Zm-v", "Z=g="])
    func `any other Base64 is not`(text: String) {
        #expect(Base64Text.decode(text) == nil)
    }
}
