import JSON
import Testing

@testable import Device

struct `Opening a gateway's record` {
    private static let otherSecret = String(repeating: "ab", count: 32)

    @Test
    func `items out of order over months open and keep the order of the record`() throws {
        var sender = try Sender()
        let months = ["2023-10", "2023-11", "2023-11", "2024-01", "2025-03"]
        var lines: [String] = []
        for (index, month) in months.enumerated() {
            lines.append(try sender.record("id-\(index)", "text \(index)", in: month))
        }
        let order = [4, 0, 3, 2, 1]
        var records = try records(registration())
        let items = records.open(file(order.map { lines[$0] }))
        #expect(items.map(\.id) == order.map { "id-\($0)" })
        #expect(items.map(text) == order.map { "text \($0)" })
        #expect(items.allSatisfy { $0.user == "user" && $0.pushkey == "key" })
    }

    @Test
    func
        `the right registration of a device is found, of two users, of two chains, and again after a new one`()
        throws
    {
        var first = try Sender(keyIdentifier: "a")
        var second = try Sender(secret: Self.otherSecret, keyIdentifier: "b")
        var third = try Sender(secret: String(repeating: "cd", count: 32), keyIdentifier: "a")
        var records = try records(
            registration(user: "anna", chain: "a"),
            registration(user: "ben", secret: Self.otherSecret, chain: "b"),
            registration(user: "carla", secret: String(repeating: "cd", count: 32), chain: "a")
        )
        let items = records.open(
            file([
                try first.record("1", "for anna", in: "2023-10"),
                try second.record("2", "for ben", in: "2023-11"),
                try third.record("3", "for carla", in: "2023-12"),
            ])
        )
        #expect(items.map(text) == ["for anna", "for ben", "for carla"])
        #expect(items.map(\.user) == ["anna", "ben", "carla"])
    }

    @Test
    func `messages of the concept of 2024 open without a chain's name and without a frame`() throws {
        var sender = try Sender()
        var records = try records(registration(chain: nil))
        let items = records.open(file([try sender.record("1", "bare", in: "2023-11", format: .unframed)]))
        #expect(items.map(text) == ["bare"])
    }

    @Test
    func `a plain item is its content`() throws {
        var records = try records(#"{"user":"user","pusher":{"app_id":"app","pushkey":"key","kind":"http"}}"#)
        let items = records.open(
            file([
                #"{"id":"1","notification":{"event_id":"1","content":{"a": [1]},"devices":[{"app_id":"app","pushkey":"key"}]}}"#,
                #"{"id":"2","notification":{"event_id":"2","devices":[{"app_id":"app","pushkey":"key"}]}}"#,
            ])
        )
        #expect(items.map(text) == [#"{"a": [1]}"#, ""])
    }

    @Test
    func `each failure is one item with its reason, and the rest opens`() throws {
        var sender = try Sender()
        var stranger = try Sender(secret: Self.otherSecret)
        var renamed = try Sender(keyIdentifier: "other")
        let good = try sender.record("good", "fine", in: "2023-10")
        var records = try records(registration())
        let items = records.open(
            file([
                good, "", "not json", #"{"id":"3"}"#, #"{"id":"4","notification":{"ciphertext":5}}"#,
                #"{"id":"5","notification":{"ciphertext":"AAAA","device":{"app_id":"app","pushkey":"key"}}}"#,
                try sender.record("6", "x", in: "2023-10", pushkey: "unknown"),
                try stranger.record("7", "x", in: "2023-10"),
                try renamed.record("8", "x", in: "2023-10"), good.replacing("2023-10", with: "2023-1x"),
            ])
        )
        #expect(items.map(\.id) == ["good", nil, "3", "4", "5", "6", "7", "8", "good"])
        #expect(items.filter(\.isOpened).count == 1)
        let errors = items.map(error)
        #expect(errors[0] == nil)
        #expect(errors[1...3].allSatisfy { if case .malformedLine = $0 { true } else { false } })
        #expect(
            errors[4...] == [
                .malformedCiphertext, .unknownDevice, .notAuthentic, .unknownKeyIdentifier, .malformedMonth,
            ]
        )
    }

    @Test
    func `faulty registrations are named by line and member, the others count`() throws {
        var records = try OpenRecords()
        let faults = records.addRegistrations(
            file([
                registration(), "", "{}", registration(secret: "zz"),
                registration().replacing("2023-10", with: "2023-13"),
                registration().replacing("pushkey", with: "push_key"),
            ])
        )
        #expect(faults.map(\.line) == [3, 4, 5, 6])
        #expect(
            faults.map { path($0.error) } == [
                "user", "pusher.encryption.iss", "pusher.encryption.time_iss_created", "pusher.pushkey",
            ]
        )
        var sender = try Sender()
        #expect(records.open(file([try sender.record("1", "fine", in: "2023-10")])).map(text) == ["fine"])
    }

    @Test
    func `a result is one line of JSON with plaintext or error`() throws {
        var sender = try Sender()
        var records = try records(registration())
        let items = records.open(file([try sender.record("1", "say \"ä\"\n", in: "2023-10"), "?"]))
        var writer = Writer()
        for item in items { item.write(to: &writer) }
        let lines = String(decoding: writer.bytes, as: UTF8.self).split(separator: "\n")
        #expect(lines.first == #"{"id":"1","user":"user","pushkey":"key","plaintext":"say \"ä\"\n"}"#)
        #expect(lines.last?.hasPrefix(#"{"id":null,"user":null,"pushkey":null,"error":""#) == true)
        #expect(lines.count == 2)
    }

    // MARK: - Files

    private func registration(
        user: String = "user",
        secret: String = Sender.secretHex,
        chain: String? = "chain-1"
    ) -> String {
        let identifier = chain.map { #","key_identifier":"\#($0)""# } ?? ""
        let encryption =
            #"{"method":"aes-hmac-sha256","iss":"\#(secret)","time_iss_created":"2023-10"\#(identifier)}"#
        return
            #"{"user":"\#(user)","pusher":{"kind":"http","app_id":"app","pushkey":"key","encryption":\#(encryption)},"channels":{"c":"enabled"}}"#
    }

    private func records(_ lines: String...) throws -> OpenRecords {
        var records = try OpenRecords()
        #expect(records.addRegistrations(file(lines)).isEmpty)
        return records
    }

    private func file(_ lines: [String]) -> [UInt8] {
        Array(lines.joined(separator: "\n").utf8)
    }

    private func text(_ item: OpenedItem) -> String? {
        switch item.outcome {
        case .success(let plaintext): String(decoding: plaintext, as: UTF8.self)
        case .failure: nil
        }
    }

    private func error(_ item: OpenedItem) -> OpenError? {
        switch item.outcome {
        case .success: nil
        case .failure(let error): error
        }
    }

    private func path(_ error: OpenError) -> String? {
        if case .malformedLine(let error) = error { error.path } else { nil }
    }
}
