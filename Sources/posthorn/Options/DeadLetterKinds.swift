internal import Push
internal import Settings

/// A moment as people give it: how long ago, or a date and time.
enum Moment: Sendable, Equatable {
    case ago(Duration)
    case at(Timestamp)

    func timestamp(now: Timestamp) -> Timestamp {
        switch self {
        case .ago(let duration): now.adding(.zero - duration)
        case .at(let moment): moment
        }
    }
}

extension ValueKind where Value == Moment {
    /// `2h`, or `2026-11-30T10:00:00Z`.
    static var moment: ValueKind {
        ValueKind(
            placeholder: "AGO|TIME",
            expectation: "a duration such as 30m, 2h or 7d, or an RFC 3339 time such as 2026-11-30T10:00:00Z",
            parse: { text in
                if let duration = DurationText.parse(text) { return .ago(duration) }
                return Timestamp(rfc3339: text).map { .at($0) }
            },
            show: { moment in
                switch moment {
                case .ago(let duration): DurationText.show(duration)
                case .at(let time): time.rfc3339
                }
            }
        )
    }
}

extension ValueKind where Value == ClosedRange<Int64> {
    /// `5`, `5-`, `-5` or `2-5`.
    static var range: ValueKind {
        ValueKind(
            placeholder: "N|FROM-TO",
            expectation: "a number or a range such as 3, 3-, -10 or 3-10",
            parse: { text in
                let parts = text.split(separator: "-", omittingEmptySubsequences: false)
                guard (1...2).contains(parts.count), text != "-" else { return nil }
                let numbers = parts.map { part in part.isEmpty ? nil : Self.number(part) }
                guard zip(parts, numbers).allSatisfy({ $0.isEmpty || $1 != nil }) else { return nil }
                let low = numbers[0] ?? 0
                let high = parts.count == 1 ? low : numbers[1] ?? .max
                guard !(parts.count == 1 && numbers[0] == nil), low <= high else { return nil }
                return low...high
            },
            show: { range in
                switch (range.lowerBound, range.upperBound) {
                case (let low, .max): "\(low)-"
                case (let low, let high) where low == high: "\(low)"
                case (let low, let high): "\(low)-\(high)"
                }
            }
        )
    }

    private static func number(_ text: Substring) -> Int64? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}

/// A letter's place in its topic.
struct LetterPlace: Sendable, Equatable {
    let partition: Int32
    let offset: Int64
}

extension ValueKind where Value == LetterPlace {
    /// `PARTITION:OFFSET`, as lists show it.
    static var place: ValueKind {
        ValueKind(
            placeholder: "PARTITION:OFFSET",
            expectation: "a place such as 0:1234, as 'posthorn dead-letters list' shows it",
            parse: { text in
                let parts = text.split(separator: ":", omittingEmptySubsequences: false)
                guard parts.count == 2, let partition = Int32(parts[0]), let offset = Int64(parts[1]),
                    partition >= 0, offset >= 0, offset < .max
                else { return nil }
                return LetterPlace(partition: partition, offset: offset)
            },
            show: { "\($0.partition):\($0.offset)" }
        )
    }
}

extension ValueKind where Value == UUIDBytes {
    /// A replay's id, as it is printed.
    static var replayID: ValueKind {
        ValueKind(
            placeholder: "ID",
            expectation: "a replay's id, as it was printed when it began",
            parse: { UUIDBytes($0) },
            show: { $0.description }
        )
    }
}
