import Kafka
import Postgres
import Push
import Support
import Testing

@testable import DeadLetters

@Suite(.serialized) struct ReplayTests {
    /// Letters of four reasons, two apps and two gateways.
    private func mixed(_ count: Int) -> [TestLetter] {
        (0..<count).map { number in
            var letter = TestLetter(number)
            letter.reason = ["out_of_attempts", "message_refused", "expired", "unknown_gateway"][number % 4]
            letter.app = number % 3 == 0 ? "com.example.other" : "com.example.app"
            letter.origin = number % 5 == 0 ? "https://other.example" : "https://gateway.example"
            if letter.reason == "expired" { letter.expires = 1_700_100_000_000 }
            return letter
        }
    }

    @Test(.needsKafka)
    func `D6: a dry run counts and moves nothing; the real run sends exactly those, and leaves the rest`()
        throws
    {
        let fixture = try Fixture()
        let letters = mixed(200)
        try fixture.publish(letters)
        try fixture.register(letters)
        var filter = DeadLetterFilter()
        filter.reasons = [.outOfAttempts]
        filter.apps = ["com.example.app"]
        filter.since = Timestamp(milliseconds: 1_700_090_000_000)
        let meant = letters.filter { $0.reason == "out_of_attempts" && $0.app == "com.example.app" }

        let dry = try fixture.dryRun(filter)
        #expect(dry.replayed == meant.count && dry.matched == meant.count)
        #expect(try fixture.records(on: fixture.topics.notifications).isEmpty)
        for table in ["replays", "dispositions", "audit", "locks", "partitions"] {
            #expect(try fixture.integer("SELECT count(*) FROM dead_letter_\(table)") == 0, "\(table)")
        }

        let report = try fixture.replay(filter)
        #expect(report.end == .finished && report.tally == dry)
        let sent = try fixture.records(on: fixture.topics.notifications)
        #expect(sent.compactMap { $0.headers.text("id") }.sorted() == meant.map(\.id).sorted())
        #expect(try fixture.open().count == letters.count - meant.count)
        #expect(try fixture.replay(filter).tally.matched == 0)
        #expect(try fixture.ids(on: fixture.topics.notifications).count == meant.count)
    }

    @Test(.needsKafka)
    func
        `what is sent again is the record that it was, and tells only what a further failure must not forget`()
        throws
    {
        let fixture = try Fixture()
        var letter = TestLetter(7)
        letter.replays = 1
        letter.replay = "an earlier one"
        var record = letter.record
        record.headers.append(Header("kafka_dlt-exception-message", text: "of a spring"))
        record.headers.append(Header("odd", [0xff]))
        record.headers.append(Header("null", nil))
        try fixture.publish([record], to: fixture.topics.notificationDeadLetters)
        try fixture.register([letter])
        let report = try fixture.replay()
        let sent = try #require(try fixture.records(on: fixture.topics.notifications).first)
        #expect(sent.key == record.key && sent.value == record.value)
        #expect((sent.timestamp ?? 0) > 1_700_100_000_000)
        let ours = sent.headers.filter { FailureHeader.isOne($0.name) }
        let rest = sent.headers.filter { !FailureHeader.isOne($0.name) }
        #expect(rest == letter.original + [Header("odd", [0xff]), Header("null", nil)])
        #expect(
            Set(ours.map(\.name)) == [
                "x-original-topic", "x-original-partition", "x-original-offset", "x-original-timestamp",
                "x-original-consumer-group", "x-dlq-first-failed-at", "x-dlq-replay-count",
                "x-dlq-replay-id",
            ]
        )
        #expect(sent.headers.text("x-dlq-replay-count") == "2")
        #expect(sent.headers.text("x-dlq-replay-id") == report.id.description)
        #expect(sent.headers.text("x-original-offset") == "7")
    }

    @Test(.needsKafka)
    func `D9: what the device still keeps is sent, what it does not is refused and counted`() throws {
        let fixture = try Fixture()
        // All sealed in October: chains that stand still, one that moved on by a month, one by two, one without, one made anew.
        var letters = (0..<6).map { TestLetter($0) }
        for index in letters.indices { letters[index].month = "2026-10" }
        letters[4].registered = 1_690_000_000_000
        letters[5].month = nil
        try fixture.register([letters[0], letters[4]], chainMonth: "2026-10")
        try fixture.register([letters[1]], chainMonth: "2026-11")
        try fixture.register([letters[2]], chainMonth: "2026-12")
        try fixture.register([letters[3], letters[5]], chainMonth: nil)
        try fixture.publish(letters)
        let report = try fixture.replay()
        #expect(
            try fixture.ids(on: fixture.topics.notifications).sorted()
                == [letters[0], letters[1], letters[5]].map(\.id).sorted()
        )
        #expect(report.tally.refusals == [.keyWindowPassed: 3])
        #expect(try fixture.open().map(\.facts.offset).count == 3)
    }

    @Test(.needsKafka)
    func `expired letters are refused, and forced ones get a new expiry and keep the old one beside it`()
        throws
    {
        let fixture = try Fixture()
        var letter = TestLetter(1)
        letter.expires = 1_700_100_000_000
        try fixture.publish([letter])
        try fixture.register([letter])
        #expect(try fixture.replay().tally.refusals == [.expired: 1])
        let report = try fixture.replay(
            DeadLetterFilter(),
            ReplayRules(forcesExpired: true, forcedLifetime: .seconds(3600))
        )
        #expect(report.tally.forced == 1 && report.tally.replayed == 1)
        let sent = try #require(try fixture.records(on: fixture.topics.notifications).first)
        let expires = try #require(sent.headers.text("expires").flatMap { Int64($0) })
        let made = try #require(sent.timestamp)
        #expect(expires == made + 3_600_000)
        #expect(sent.headers.text("original-expires") == "1700100000000")
        #expect(sent.headers.count { $0.name == "expires" } == 1)
        let audit = try AuditBook.newest(1, from: &fixture.connection)
        #expect(audit[0].action == "replay_done" && audit[0].operator == "anna")
        #expect(audit[0].outcome.contains(#""forces_expired":true"#))
        #expect(audit[0].outcome.contains(#""forced":1"#))
    }

    @Test(.needsKafka)
    func `letters whose pusher or gateway is gone, or that cannot be read, are refused and stay`() throws {
        let fixture = try Fixture()
        let letters = (0..<4).map { TestLetter($0) }
        var records = letters.map(\.record)
        records[1].headers.replace("gateway", Array("https://gone.example/push/v1/notify".utf8))
        records[2].headers.remove("user")
        records[3].value = nil
        try fixture.register(Array(letters.dropFirst()))
        try fixture.publish(records, to: fixture.topics.notificationDeadLetters)
        let report = try fixture.replay()
        #expect(report.tally.refusals == [.pusherGone: 1, .unknownGateway: 1, .stillAtFault: 2])
        #expect(report.tally.replayed == 0)
        #expect(try fixture.open().count == 4)
        #expect(try fixture.records(on: fixture.topics.notifications).isEmpty)
    }

    @Test(.needsKafka)
    func `a letter that was replayed as often as allowed is parked as it is, and can be replayed from there`()
        throws
    {
        let fixture = try Fixture()
        var letters = (0..<10).map { TestLetter($0) }
        for index in 0..<4 { letters[index].replays = 3 }
        try fixture.publish(letters)
        try fixture.register(letters)
        let report = try fixture.replay()
        #expect(report.tally.parked == 4 && report.tally.replayed == 6)
        let parked = try fixture.records(on: fixture.topics.parking)
        #expect(parked.compactMap { $0.headers.text("id") }.sorted() == letters[..<4].map(\.id).sorted())
        #expect(parked.allSatisfy { $0.headers.text("x-dlq-replay-count") == "3" })
        #expect(parked.allSatisfy { $0.headers.text("x-dlq-reason") == "out_of_attempts" })
        #expect(try fixture.open().isEmpty)

        #expect(try fixture.replay(from: fixture.parking).tally.replayed == 4)
        #expect(try fixture.ids(on: fixture.topics.notifications).count == 10)
        #expect(try fixture.open(fixture.parking).isEmpty)
    }

    @Test(.needsKafka) func `parked by filter, letters are set aside and no longer open`() throws {
        let fixture = try Fixture()
        let letters = mixed(40)
        try fixture.publish(letters)
        var filter = DeadLetterFilter()
        filter.reasons = [.messageRefused]
        let report = try fixture.replay(filter, ReplayRules(.park))
        #expect(report.tally.parked == 10 && report.tally.matched == 10)
        #expect(try fixture.ids(on: fixture.topics.parking).count == 10)
        #expect(try fixture.open().count == 30)
        try fixture.publish([TestEvent(1).record], to: fixture.topics.triggerDeadLetters)
        #expect(
            try fixture.replay(DeadLetterFilter(), ReplayRules(.park), from: fixture.encrypt).tally.parked
                == 1
        )
        #expect(try fixture.open(fixture.encrypt).isEmpty)
        #expect(try fixture.ids(on: fixture.topics.parking).count == 10)
    }

    @Test(.needsKafka) func `a limit ends a replay, and the next one goes on behind it`() throws {
        let fixture = try Fixture()
        let letters = (0..<30).map { TestLetter($0) }
        try fixture.publish(letters)
        try fixture.register(letters)
        let first = try fixture.replay(DeadLetterFilter(), ReplayRules(limit: 12))
        #expect(first.end == .limitReached && first.tally.replayed == 12)
        #expect(try fixture.dryRun(DeadLetterFilter(), ReplayRules(limit: 12)).replayed == 12)
        let second = try fixture.replay()
        #expect(second.tally.replayed == 18)
        #expect(
            try fixture.ids(on: fixture.topics.notifications).sorted() == letters.map(\.id).sorted()
        )
    }

    @Test(.needsKafka) func `what is written after a replay began is not part of it`() throws {
        let fixture = try Fixture()
        let letters = (0..<40).map { TestLetter($0) }
        try fixture.publish(Array(letters[..<20]))
        try fixture.register(letters)
        var settings = ReplaySettings()
        settings.step = 5
        let isFirst = Once()
        let report = try fixture.replay(settings: settings) { _ in
            if isFirst.take() { try? fixture.publish(Array(letters[20...])) }
        }
        #expect(report.end == .finished && report.tally.replayed == 20)
        #expect(try fixture.open().count == 20)
    }

    @Test(.needsKafka) func `trigger events go back to be sealed anew, forced ones with a time to live`()
        throws
    {
        let fixture = try Fixture()
        var events = (0..<5).map { TestEvent($0) }
        events[1].channel = "unheard"
        events[2].expires = "2024-01-01T00:00:00Z"
        events[3].expires = "2024-01-01T00:00:00Z"
        events[3].isStructured = true
        try fixture.publish(events.map(\.record), to: fixture.topics.triggerDeadLetters)
        let report = try fixture.replay(from: fixture.encrypt)
        #expect(report.tally.replayed == 2)
        #expect(report.tally.refusals == [.unknownChannel: 1, .expired: 2])
        let forced = try fixture.replay(
            DeadLetterFilter(),
            ReplayRules(forcesExpired: true),
            from: fixture.encrypt
        )
        #expect(forced.tally.forced == 2 && forced.tally.refused == 1)
        let sent = try fixture.records(on: fixture.topics.triggers)
        #expect(sent.count == 4)
        let now = Timestamp(milliseconds: sent.compactMap(\.timestamp).max() ?? 0)
        for record in sent {
            var reader = TriggerEventReader()
            record.headers.forEachLent { name, value, isNull in
                reader.take(header: name, value, isNull: isNull)
            }
            let read = try reader.finish(
                value: record.value,
                recordTimestamp: record.timestamp ?? -1,
                now: now
            )
            guard case .event(let event) = read else {
                Issue.record("a tombstone was sent")
                continue
            }
            #expect(!event.isExpired(at: now))
            let number = try #require(String(decoding: event.id, as: UTF8.self).split(separator: "-").last)
            #expect(String(decoding: event.content, as: UTF8.self).contains("secretContent\(number)"))
            #expect(record.headers.text("x-dlq-replay-count") == "1")
            #expect(record.key == Array("secret-user-\(number)".utf8))
        }
    }
}

/// True once.
final class Once {
    private var isTaken = false

    func take() -> Bool {
        defer { isTaken = true }
        return !isTaken
    }
}
