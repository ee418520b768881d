import Push
import Testing

@testable import Device

struct `A receiving device` {
    @Test
    func `opens what was sealed for it, month after month, and keeps two months`() throws {
        var sender = try Sender()
        var receiver = try Receiver()
        let registration = try register(&receiver)
        for (month, kept) in [
            ("2023-10", ["2023-10"]), ("2023-11", ["2023-10", "2023-11"]),
            ("2023-11", ["2023-10", "2023-11"]),
            ("2024-01", ["2023-12", "2024-01"]), ("2024-02", ["2024-01", "2024-02"]),
        ] {
            let message = try sender.message("in \(month)", in: month)
            #expect(text(try receiver.open(message, with: registration)) == "in \(month)")
            #expect(registration.months.map(\.description) == kept)
        }
    }

    @Test
    func `a message of the month before still opens, an older one does not`() throws {
        var sender = try Sender()
        var receiver = try Receiver()
        let registration = try register(&receiver)
        let october = try sender.message("october", in: "2023-10")
        let november = try sender.message("november", in: "2023-11")
        let december = try sender.message("december", in: "2023-12")
        _ = try receiver.open(december, with: registration)
        #expect(text(try receiver.open(november, with: registration)) == "november")
        #expect(throws: OpenError.keyNotKept(try Sender.month("2023-10"))) {
            try receiver.open(october, with: registration)
        }
        #expect(text(try receiver.open(december, with: registration)) == "december")
    }

    @Test
    func `a device that slept fourteen months wakes up`() throws {
        var sender = try Sender()
        var receiver = try Receiver()
        let registration = try register(&receiver)
        let message = try sender.message("late", in: "2024-12")
        #expect(text(try receiver.open(message, with: registration)) == "late")
        #expect(registration.months.map(\.description) == ["2024-11", "2024-12"])
    }

    @Test(arguments: ["2023-12", "2024-06", "2025-10", "2025-11", "2099-12"])
    func `a month that a message only claims never moves the chain`(_ claimed: String) throws {
        var sender = try Sender()
        var receiver = try Receiver()
        let registration = try register(&receiver)
        let forged = try sender.message("true", in: "2023-11", claiming: claimed)
        let honest = try sender.message("true", in: "2023-11")
        let expected: OpenError =
            claimed <= "2025-10"
            ? .notAuthentic : .tooFarAhead(from: try Sender.month("2023-10"), to: try Sender.month(claimed))
        #expect(throws: expected) { try receiver.open(forged, with: registration) }
        #expect(registration.months.map(\.description) == ["2023-10"])
        #expect(text(try receiver.open(honest, with: registration)) == "true")
    }

    @Test
    func `a device with a clock believes two months ahead of it and no more`() throws {
        var sender = try Sender()
        var receiver = try Receiver(clock: try Sender.month("2023-11"))
        let registration = try register(&receiver)
        _ = try receiver.open(try sender.message("near", in: "2024-01"), with: registration)
        let far = try sender.message("far", in: "2024-02")
        #expect(throws: OpenError.self) { try receiver.open(far, with: registration) }
        #expect(registration.months.map(\.description) == ["2023-12", "2024-01"])
    }

    @Test(arguments: [
        "", "2023-1", "2023-13", "2023-00", "0001-01", "2023-10 ", " 2023-10", "2023/10", "２０２３-10",
        "1999-12", "2100-01",
    ])
    func `a month of another form is refused`(_ month: String) throws {
        var sender = try Sender()
        var receiver = try Receiver()
        let registration = try register(&receiver)
        let message = try sender.message("x", in: "2023-10", claiming: month)
        #expect(throws: OpenError.malformedMonth) { try receiver.open(message, with: registration) }
    }

    @Test
    func `another chain's name, another chain's key and a changed message are refused`() throws {
        var sender = try Sender()
        var renamed = try Sender(keyIdentifier: "chain-2")
        var stranger = try Sender(secret: String(repeating: "00", count: 32))
        var receiver = try Receiver()
        let registration = try register(&receiver)
        let others = try renamed.message("x", in: "2023-11")
        #expect(throws: OpenError.unknownKeyIdentifier) { try receiver.open(others, with: registration) }
        let strange = try stranger.message("x", in: "2023-11")
        #expect(throws: OpenError.notAuthentic) { try receiver.open(strange, with: registration) }
        for index in [0, 11, 12, 700, 1035, 1036, 1051] {
            var changed = try sender.message("x", in: "2023-11")
            changed.sealed[index] ^= 1
            let forged = changed
            #expect(throws: OpenError.notAuthentic) { try receiver.open(forged, with: registration) }
        }
        #expect(registration.months.map(\.description) == ["2023-10"])
    }

    @Test
    func `a message without a chain's name is refused where its format has one`() throws {
        var sender = try Sender(keyIdentifier: nil)
        var receiver = try Receiver()
        let registration = try register(&receiver)
        let framed = try sender.message("x", in: "2023-10")
        #expect(throws: OpenError.unknownKeyIdentifier) { try receiver.open(framed, with: registration) }
        let unframed = try sender.message("x", in: "2023-10", format: .unframed)
        #expect(text(try receiver.open(unframed, with: registration)) == "x")
    }

    @Test(arguments: [
        [UInt8](repeating: 0x20, count: 1024),
        Array("PNM2".utf8) + [3, 0xFA] + [UInt8](repeating: 0x20, count: 1018),
        Array("PNM1".utf8) + [3, 0xFB] + [UInt8](repeating: 0x20, count: 1018),
        Array("PNM1".utf8) + [3, 0xFA] + [UInt8](repeating: 0x20, count: 1017) + [0x21],
    ])
    func `what opens but is not framed is refused`(_ plaintext: [UInt8]) throws {
        var sender = try Sender()
        var receiver = try Receiver()
        let registration = try register(&receiver)
        let ciphertext = try sender.ciphertext(plaintext, in: "2023-10")
        let message = try SealedMessage(
            month: Array("2023-10".utf8),
            keyIdentifier: "chain-1",
            ciphertext: ciphertext.span,
            format: .framed
        )
        #expect(throws: OpenError.malformedFrame) { try receiver.open(message, with: registration) }
    }

    @Test(arguments: [0, 1400, 1403, 1408])
    func `a framed message has 1404 characters`(_ count: Int) {
        let ciphertext = [UInt8](repeating: UInt8(ascii: "A"), count: count)
        #expect(throws: OpenError.malformedCiphertext) {
            try SealedMessage(month: [], keyIdentifier: nil, ciphertext: ciphertext.span, format: .framed)
        }
    }

    @Test(arguments: ["activate", "dispense"])
    func `messages of another implementation open from the initial secret`(_ name: String) throws {
        let ciphertext =
            name == "activate" ? PackageResources.interop_activate_b64 : PackageResources.interop_dispense_b64
        let content = try Receiver.openOnce(
            secret: Sender.secret(),
            initialMonth: Sender.month("2023-10"),
            month: Sender.month("2023-10"),
            ciphertext: Array("\n".utf8) + ciphertext + Array(" \r\n".utf8)
        )
        #expect(
            text(content)
                == "{\"ChannelId\": \"erp.task.\(name)\", \"Identifier\": \"Task.identifier.PrescriptionID\", \"IdentifierType\": \"TaskId\"}"
        )
    }

    @Test
    func `one message opens from the initial secret, framed or not, over any gap`() throws {
        var sender = try Sender()
        let framed = try sender.ciphertext(frame("gap"), in: "2027-06")
        let unframed = try sender.ciphertext(Array("bare".utf8), in: "2027-06")
        let secret = try Sender.secret()
        let (first, month) = (try Sender.month("2023-10"), try Sender.month("2027-06"))
        #expect(
            text(try Receiver.openOnce(secret: secret, initialMonth: first, month: month, ciphertext: framed))
                == "gap"
        )
        #expect(
            text(
                try Receiver.openOnce(secret: secret, initialMonth: first, month: month, ciphertext: unframed)
            ) == "bare"
        )
        #expect(throws: OpenError.notAuthentic) {
            try Receiver.openOnce(secret: secret, initialMonth: first, month: month + 1, ciphertext: framed)
        }
        #expect(throws: OpenError.keyNotKept(month)) {
            try Receiver.openOnce(secret: secret, initialMonth: month + 1, month: month, ciphertext: framed)
        }
        #expect(throws: OpenError.malformedCiphertext) {
            try Receiver.openOnce(
                secret: secret,
                initialMonth: first,
                month: month,
                ciphertext: Array("@@@@".utf8)
            )
        }
    }

    private func register(_ receiver: inout Receiver) throws -> Registration {
        try receiver.register(Sender.secret(), month: Sender.month("2023-10"), keyIdentifier: "chain-1")
    }

    private func frame(_ text: String) -> [UInt8] {
        var frame: [UInt8] = []
        let isFramed = PlaintextFrame.frame(text.utf8.span, into: &frame)
        #expect(isFramed)
        return frame
    }

    private func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}
