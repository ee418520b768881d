import Testing

extension Installation {
    /// Expects each notification on the topic, and at the gateway if need be more than once but unchanged, and each to open.
    ///
    /// After a replay of dead letters the topic too may have one more than once.
    func expect(
        _ expected: [String: ExpectedNotification],
        received: [SealedItem],
        by devices: [TestDevice],
        isReplayed: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let opening = try Devices(devices).open
        for (place, items, repeats) in [
            ("on the topic", try sealedItems(), isReplayed), ("at the gateway", received, true),
        ] {
            let faults = differences(items, from: expected, repeats: repeats, opening: opening)
            #expect(
                faults.isEmpty,
                "\(faults.count) faults \(place): \(faults.prefix(10))",
                sourceLocation: sourceLocation
            )
        }
    }
}
