import Device
import Push
import Support
import Testing

@Suite(.needsKafka) struct `Key chains over the months` {
    private static let october = Month("2026-10")!
    private static let november = october + 1

    /// 30 users with two devices each.
    private let devices = (0..<60).map { TestDevice($0, user: "user-\($0 / 2)") }

    @Test
    func `R4: a month that ends while 16 lanes work on the same pushers leaves one chain each`() throws {
        let installation = try installation(partitions: 16)
        let workers = try (0..<2).map { _ in
            try Role(installation, "encrypt", "--lanes", "8", "--batch", "10")
        }
        for worker in workers { try worker.awaitReady() }

        let before = events("before", 2400)
        let after = events("after", 2400)
        try writeToAllPartitions(before, installation)
        try installation.wait(until: "the last days of October go by") { try installation.encrypted() >= 400 }
        try installation.setMonth(Self.november)
        try writeToAllPartitions(after, installation)
        try installation.awaitEncrypted()
        for worker in workers { try worker.drain() }
        try expectChains(in: Self.november, installation)

        // Whoever starts now knows nothing but what the database holds.
        let successor = try Role(installation, "encrypt")
        let last = events("last", 480)
        try writeToAllPartitions(last, installation)
        try installation.awaitEncrypted()
        try successor.drain()

        let items = try installation.sealedItems()
        #expect(try faults(items, before + after + last, installation).isEmpty)
        let months = Dictionary(grouping: items, by: \.month).mapValues(\.count)
        #expect(Set(months.keys) == ["2026-10", "2026-11"])
        #expect(months["2026-10", default: 0] >= 800, "what was committed before the month ended")
        #expect(months["2026-11", default: 0] >= 5760, "what was published after that")
        let late = try ids(after + last, installation)
        #expect(items.allSatisfy { !late.contains($0.id) || $0.month == "2026-11" })
    }

    @Test
    func `R5: keys that the database does not take seal nothing, and nobody goes on with those of before`()
        throws
    {
        let installation = try installation(partitions: 4)
        let workers = try (0..<2).map { _ in try Role(installation, "encrypt", "--lanes", "2") }
        for worker in workers { try worker.awaitReady() }
        let first = events("first", 480)
        try writeToAllPartitions(first, installation, count: 4)
        try installation.awaitEncrypted()

        try installation.execute(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE EXCEPTION 'no space left on device' USING ERRCODE = '53100'; END $$;
            CREATE TRIGGER refuse BEFORE UPDATE ON pushers FOR EACH ROW EXECUTE FUNCTION refuse();
            """
        )
        try installation.setMonth(Self.november)
        let second = events("second", 480)
        try writeToAllPartitions(second, installation, count: 4)
        try installation.wait(until: "all lanes have failed") {
            try workers.allSatisfy { try $0.metric("posthorn_lane_ready") == 0 }
        }
        try installation.wait(until: "both workers have tried again and again, and never seemed ready") {
            for worker in workers { #expect(try worker.metric("posthorn_lane_ready") == 0) }
            return try workers.allSatisfy { try $0.metric("posthorn_encrypt_rewound_total") >= 8 }
        }
        #expect(try installation.sealedItems().count == 960, "what was not written is not seen")
        try expectChains(in: Self.october, installation)

        try installation.execute("DROP TRIGGER refuse ON pushers")
        try installation.awaitEncrypted()
        let items = try installation.sealedItems()
        #expect(try faults(items, first + second, installation).isEmpty)
        #expect(items.count { $0.month == "2026-11" } == 960)
        try expectChains(in: Self.november, installation)
        for worker in workers { try worker.drain() }
    }

    @Test
    func
        `R7: after 14 idle months 16 lanes take the same steps, and no chain follows a clock that goes back`()
        throws
    {
        let installation = try installation(partitions: 16)
        let workers = try (0..<2).map { _ in
            try Role(installation, "encrypt", "--lanes", "8", "--batch", "10")
        }
        for worker in workers { try worker.awaitReady() }
        let months = [Self.october, Self.october + 14, Self.october + 13]
        var all: [TestEvent] = []
        for (round, month) in months.enumerated() {
            try installation.setMonth(month)
            let next = events("round-\(round)", 480)
            try writeToAllPartitions(next, installation)
            try installation.awaitEncrypted()
            all += next
        }
        let items = try installation.sealedItems()
        #expect(try faults(items, all, installation).isEmpty)
        let counts = Dictionary(grouping: items, by: \.month).mapValues(\.count)
        #expect(counts == ["2026-10": 960, "2027-12": 1920])
        try expectChains(in: Self.october + 14, installation)
        for worker in workers { try worker.drain() }

        // The newest keys and those of the month before are all that a device keeps.
        let opener = try Devices(devices)
        let old = try #require(items.first { $0.month == "2026-10" })
        let new = try #require(items.last { $0.pushkey == old.pushkey })
        _ = try opener.open(old)
        _ = try opener.open(new)
        #expect(throws: OpenError.self) { try opener.open(old) }
    }

    // MARK: - Parts

    private func installation(partitions: Int) throws -> Installation {
        let installation = try Installation(partitions: partitions, month: Self.october)
        try installation.run("gateways", "add", "https://gateway.example")
        try installation.register(devices)
        return installation
    }

    /// Sixteen events for one user, then sixteen for the next.
    private func events(_ name: String, _ count: Int) -> [TestEvent] {
        (0..<count).map { TestEvent(id: "\(name)-\($0)", user: "user-\($0 / 16 % 30)") }
    }

    /// Spreads them over the partitions, so that all lanes meet the same user at the same time.
    ///
    /// `posthorn publish` keeps a user's events in one partition; other producers need not.
    private func writeToAllPartitions(
        _ events: [TestEvent],
        _ installation: Installation,
        count: Int = 16
    ) throws {
        let records = events.enumerated().map { RawRecord($1, partition: Int32($0 % count)) }
        try installation.write(records, to: installation.topics.triggers)
    }

    private func ids(_ events: [TestEvent], _ installation: Installation) throws -> Set<String> {
        Set(try expectation(events, for: devices, pushers: try installation.pusherIDs()).keys)
    }

    /// Each device opens all that is sealed for it, month by month, with the one chain that it derives from its secret.
    private func faults(
        _ items: [SealedItem],
        _ events: [TestEvent],
        _ installation: Installation
    ) throws -> [String] {
        let expected = try expectation(events, for: devices, pushers: try installation.pusherIDs())
        let opener = try Devices(devices)
        return differences(items.sorted { $0.month < $1.month }, from: expected, opening: opener.open)
    }

    /// Every device's chain in the database is the one of that month.
    private func expectChains(in month: Month, _ installation: Installation) throws {
        #expect(
            try installation.integer("SELECT count(*) FROM pushers WHERE chain_month = \(month.ordinal)")
                == devices.count
        )
    }
}
