extension ValueKind where Value == Duration {
    /// A duration within a range: a whole number and its unit, `500ms`, `30s`, `2m`, `12h` or `7d`.
    ///
    /// A bare number is refused: whoever writes 30 may mean seconds or milliseconds.
    package static func duration(in range: ClosedRange<Duration>) -> ValueKind {
        let low = DurationText.show(range.lowerBound)
        let high = DurationText.show(range.upperBound)
        return ValueKind(
            placeholder: "DURATION",
            expectation: "a duration from \(low) to \(high) with its unit (ms, s, m, h, d)",
            parse: { text in DurationText.parse(text).flatMap { range.contains($0) ? $0 : nil } },
            show: DurationText.show
        )
    }
}

extension ValueKind where Value == [Duration] {
    /// From one to `count` durations within a range, parted by commas, each longer than the one before: `30s,2m,8m`.
    package static func risingDurations(in range: ClosedRange<Duration>, upTo count: Int) -> ValueKind {
        let low = DurationText.show(range.lowerBound)
        let high = DurationText.show(range.upperBound)
        return ValueKind(
            placeholder: "DURATION,...",
            expectation:
                "1 to \(count) rising durations from \(low) to \(high), parted by commas, such as 30s,2m",
            parse: { text in
                let parts = text.split(separator: ",", omittingEmptySubsequences: false)
                let durations = parts.compactMap { DurationText.parse(String($0)) }
                guard durations.count == parts.count, (1...count).contains(parts.count),
                    durations.allSatisfy(range.contains), zip(durations, durations.dropFirst()).allSatisfy(<)
                else { return nil }
                return durations
            },
            show: { $0.map(DurationText.show).joined(separator: ",") }
        )
    }
}

/// Durations as people write them in settings.
package enum DurationText {
    private static let units: [(name: String, milliseconds: Int)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// The duration, or nil without a whole number, a known unit and a result that fits.
    package static func parse(_ text: String) -> Duration? {
        guard let (number, name) = Quantity.split(text),
            let unit = units.first(where: { $0.name == name })
        else { return nil }
        let (milliseconds, overflow) = number.multipliedReportingOverflow(by: unit.milliseconds)
        return overflow ? nil : .milliseconds(milliseconds)
    }

    /// The shortest exact form: `2m` rather than `120s`; below a millisecond nothing is told.
    package static func show(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        if milliseconds == 0 { return "0s" }
        for unit in units.reversed() where milliseconds % Int64(unit.milliseconds) == 0 {
            return "\(milliseconds / Int64(unit.milliseconds))\(unit.name)"
        }
        return "\(milliseconds)ms"
    }
}
