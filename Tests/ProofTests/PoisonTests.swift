import Kafka
import Push
import Support
import Testing

@Suite(.needsKafka) struct `Poison on both topics` {
    /// Two devices for each of ten users, and two of one whose second device has a broken key chain.
    private static let broken = 21

    @Test
    func `K1 K2 K3: every kind becomes one dead letter with its reason, and all the rest goes through`()
        throws
    {
        let installation = try Installation(partitions: 2)
        let gateway = try Gateway(installation)
        let devices = (0..<22).map { number in
            var device = TestDevice(number, user: "user-\(number / 2)")
            device.origin = gateway.origin
            return device
        }
        try installation.register(devices)
        try installation.execute(
            """
            UPDATE pushers SET chain_sealed = set_byte(chain_sealed, 50, 255 - get_byte(chain_sealed, 50))
            WHERE pushkey = 'device-\(Self.broken)'
            """
        )
        let encrypt = try Role(installation, "encrypt", "--batch", "50")
        let dispatch = try Role(installation, "dispatch")

        // Stage one: a thousand events with poison all over.
        let good = (0..<1000).map { TestEvent(id: "event-\($0)", user: "user-\($0 % 10)") }
        let odd = TriggerPoison.harmless(for: "user-3")
        let cracked = TestEvent(id: "cracked", user: "user-10")
        let late = RawRecord(TestEvent(id: "late", user: "user-4")).with(
            "ce_expirytime",
            "2026-01-01T00:00:00Z"
        )
        let poisons =
            TriggerPoison.all(for: "user-5")
            + [Poison("a broken key chain", "key_chain_unusable", RawRecord(cracked))]
        try installation.write(
            mixed(good.map { RawRecord($0) }, with: poisons.map(\.record) + odd.map(\.record) + [late]),
            to: installation.topics.triggers
        )
        try installation.awaitEncrypted()
        expectLetters(
            try installation.witness.records(on: installation.topics.triggerDeadLetters),
            of: poisons,
            on: try installation.witness.records(on: installation.topics.triggers),
            stage: "encrypt"
        )
        #expect(try encrypt.metric("posthorn_encrypt_dead_letters_total") == poisons.count)
        #expect(try encrypt.metric("posthorn_encrypt_events_total", label: #""expired""#) == 1)

        // Stage two: poison and sound messages behind and between what the first stage has written.
        let sealed = try installation.witness.records(on: installation.topics.notifications)
        let template = try #require(sealed.first { $0.headers.text("event") == "event-0" })
        let more = NotificationPoison.harmless(like: template)
        let bad = NotificationPoison.all(like: template)
        try installation.write(
            mixed(more.map(\.record), with: bad.map(\.record)),
            to: installation.topics.notifications
        )
        try installation.awaitDelivered()
        expectLetters(
            try installation.witness.records(on: installation.topics.notificationDeadLetters),
            of: bad,
            on: try installation.witness.records(on: installation.topics.notifications),
            stage: "dispatch"
        )
        #expect(try dispatch.metric("posthorn_dispatch_dead_letters_total") == bad.count)

        // What is sound arrived, each once.
        let events = good + odd.map(\.event) + [cracked]
        var expected = try expectation(
            events,
            for: devices.filter { $0.number != Self.broken },
            pushers: try installation.pusherIDs()
        )
        let original = try SealedItem(template)
        for (id, _) in more { expected[id] = expected[original.id] }
        let faults = differences(try gateway.items, from: expected, opening: try Devices(devices).open)
        #expect(faults.isEmpty, "\(faults.count) faults: \(faults.prefix(10))")
        for worker in [encrypt, dispatch] { try worker.drain() }
    }

    /// The poison spread among the others, on both partitions.
    private func mixed(_ others: [RawRecord], with poison: [RawRecord]) -> [RawRecord] {
        var records = others
        for (index, record) in poison.enumerated() {
            records.insert(record, at: min(records.count, index * (others.count / poison.count + 1)))
        }
        return records.enumerated().map { index, record in
            var record = record
            record.partition = Int32(index % 2)
            return record
        }
    }

    /// One dead letter for each poison, the record as it was, with what went wrong beside it.
    private func expectLetters(
        _ letters: [Record],
        of poisons: [Poison],
        on originals: [Record],
        stage: String
    ) {
        let found = Dictionary(grouping: letters) { Poison.name(of: $0) ?? "none of ours" }
        let sources = Dictionary(grouping: originals) { Poison.name(of: $0) ?? "none of ours" }
        #expect(letters.count == poisons.count)
        #expect(Set(found.keys) == Set(poisons.map(\.name)))
        for poison in poisons {
            guard let letter = found[poison.name]?.first, let source = sources[poison.name]?.first else {
                continue
            }
            #expect(letter.headers.text("x-dlq-reason") == poison.reason, "\(poison.name)")
            #expect(letter.headers.text("x-dlq-stage") == stage, "\(poison.name)")
            #expect(letter.key == source.key, "\(poison.name)")
            #expect(letter.value == source.value, "\(poison.name)")
            #expect(letter.timestamp == source.timestamp, "\(poison.name)")
            #expect(Array(letter.headers).starts(with: Array(source.headers)), "\(poison.name)")
            #expect(letter.headers.text("x-original-topic") == source.topic, "\(poison.name)")
            #expect(letter.headers.text("x-original-partition") == "\(source.partition)", "\(poison.name)")
            #expect(letter.headers.text("x-original-offset") == "\(source.offset)", "\(poison.name)")
        }
    }
}
