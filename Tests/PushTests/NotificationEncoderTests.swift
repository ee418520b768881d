import JSON
import Testing

@testable import Push

struct NotificationEncoderTests {
    private static let id = NotificationID(UUIDBytes(high: 0x0123_4567_89AB_8DEF, low: 0x8123_4567_89AB_CDEF))
    private static let idText = "01234567-89ab-8def-8123-456789abcdef"

    private func encode(
        _ dialect: Dialect,
        identifier: String? = nil,
        priority: Priority? = nil,
        pushkey: String = "k",
        data: String = ""
    ) throws -> [UInt8] {
        let encoder = NotificationEncoder(dialect)
        let month = try #require(Month("2024-11"))
        var output: [UInt8] = []
        encoder.appendBeforeCiphertext(id: Self.id, month: month, to: &output)
        output.append(contentsOf: "QUJD".utf8)
        encoder.appendAfterCiphertext(
            month: month,
            keyIdentifier: "key-1".utf8.span,
            identifier: identifier.map { Array($0.utf8) },
            priority: priority,
            to: &output
        )
        encoder.appendDevice(
            appID: "de.a.apns".utf8.span,
            pushkey: pushkey.utf8.span,
            registered: Timestamp(milliseconds: 1_700_000_000_999),
            data: data.utf8.span,
            to: &output
        )
        try Reader.read(output) { reader throws(ReadError) in try reader.skipValue() }
        return output
    }

    @Test func `gematik-1.2 writes an item of notifyEncrypted`() throws {
        let small = try encode(.gematik12)
        #expect(
            String(decoding: small, as: UTF8.self)
                == #"{"id":"\#(Self.idText)","notification":{"ciphertext":"QUJD","time_message_encrypted":"2024-11","#
                + #""key_identifier":"key-1","device":{"app_id":"de.a.apns","pushkey":"k","pushkey_ts":1700000000}}}"#
        )
        let large = try encode(.gematik12, identifier: "a\"b", priority: .low, data: #"{"format":"x"}"#)
        #expect(
            String(decoding: large, as: UTF8.self)
                == #"{"id":"\#(Self.idText)","notification":{"ciphertext":"QUJD","time_message_encrypted":"2024-11","#
                + #""key_identifier":"key-1","identifier":"a\"b","prio":"low","device":{"app_id":"de.a.apns","pushkey":"k","#
                + #""pushkey_ts":1700000000,"data":{"format":"x"}}}}"#
        )
    }

    @Test func `concept-2024 writes a whole body`() throws {
        let body = try encode(.concept2024, identifier: "i", priority: .high)
        #expect(
            String(decoding: body, as: UTF8.self)
                == #"{"month":"2024-11","ciphertext":"QUJD","prio":"high","devices":[{"app_id":"de.a.apns","pushkey":"k","#
                + #""pushkey_ts":1700000000}]}"#
        )
        #expect(NotificationEncoder(.concept2024).format == .concept2024)
        #expect(NotificationEncoder(.gematik12).format == .gematik12Encrypted)
    }

    @Test(arguments: ["k", "a\"b\\c", "ключ", "a\u{1F}", "+/="])
    func `the pushkey is found again in what was written`(pushkey: String) throws {
        for dialect in Dialect.allCases {
            let value = try encode(dialect, pushkey: pushkey)
            let format = NotificationEncoder(dialect).format
            #expect(EncodedNotification.pushkey(in: value, format: format) == Array(pushkey.utf8))
            #expect(EncodedNotification.pushkey(in: Array(value.dropLast()), format: format) == nil)
        }
    }

    private func plain(_ content: String, priority: Priority? = nil) throws -> [UInt8]? {
        let event = TriggerEvent(
            id: Array("e".utf8),
            source: Array("s".utf8),
            type: Array("t".utf8),
            user: Array("u".utf8),
            channel: nil,
            priority: priority,
            created: Timestamp(milliseconds: 0),
            expires: Timestamp(milliseconds: 0),
            identifier: nil,
            traceparent: nil,
            content: Array(content.utf8)
        )
        guard let content = PlainItem.content(event.content) else { return nil }
        var output: [UInt8] = []
        PlainItem.appendBeforeDevice(
            id: Self.id,
            event: event,
            channel: Array("c".utf8),
            content: content,
            to: &output
        )
        PlainItem.appendDevice(
            appID: "a".utf8.span,
            pushkey: "k".utf8.span,
            registered: Timestamp(milliseconds: 5000),
            data: "".utf8.span,
            to: &output
        )
        return output
    }

    @Test func `a plain item always says its priority`() throws {
        let item = try #require(try plain(#"{"a":1}"#))
        #expect(
            String(decoding: item, as: UTF8.self)
                == #"{"id":"\#(Self.idText)","notification":{"event_id":"\#(Self.idText)","type":"t","room_id":"c","prio":"high","#
                + #""content":{"a":1},"devices":[{"app_id":"a","pushkey":"k","pushkey_ts":5}]}}"#
        )
        #expect(EncodedNotification.pushkey(in: item, format: .gematik12Plain) == Array("k".utf8))
        let empty = try #require(try plain("", priority: .low))
        #expect(String(decoding: empty, as: UTF8.self).contains(#""prio":"low","devices""#))
    }

    @Test(arguments: ["text", "[1]", "\"a\"", "{", "{} {}"])
    func `content that is no JSON object cannot be sent plain`(content: String) throws {
        #expect(try plain(content) == nil)
    }

    @Test func `a batch is its items between two brackets`() {
        var body: [UInt8] = []
        BatchFrame.begin(&body)
        BatchFrame.add(#"{"id":"1"}"#.utf8.span, isFirst: true, to: &body)
        BatchFrame.add(#"{"id":"2"}"#.utf8.span, isFirst: false, to: &body)
        BatchFrame.end(&body)
        #expect(String(decoding: body, as: UTF8.self) == #"{"notifications":[{"id":"1"},{"id":"2"}]}"#)
        #expect(body.count == BatchFrame.size(items: 2, itemBytes: 20))
        #expect(BatchFrame.fits(bytes: BatchFrame.maximumBytes - BatchFrame.framing))
        #expect(!BatchFrame.fits(bytes: BatchFrame.maximumBytes - BatchFrame.framing + 1))
    }

    @Test func `a hundred ordinary items stay under the size limit`() throws {
        let item = try encode(
            .gematik12,
            identifier: String(repeating: "i", count: 128),
            pushkey: String(repeating: "k", count: 512)
        )
        #expect(BatchFrame.size(items: 100, itemBytes: 100 * (item.count + 1400)) < BatchFrame.maximumBytes)
    }

    @Test func `strings are escaped as JSON wants them`() {
        var output: [UInt8] = []
        output.appendJSONString("a\"\\\n\r\t\u{1}\u{1F}é".utf8.span)
        #expect(String(decoding: output, as: UTF8.self) == #""a\"\\\n\r\t\u0001\u001fé""#)
    }
}
