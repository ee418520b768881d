package import JSON

/// The form in which filters are stored with replays and in the audit.
///
/// `{"reasons":["expired"],"users":["…"],"since":"2026-11-30T10:00:00.000Z","attempts":[3,50],"partition":0}`; what is not asked for is not there.
extension DeadLetterFilter {
    package func write(to writer: inout Writer) {
        writer.object { writer in
            func list(_ name: StaticString, _ values: [String]) {
                guard !values.isEmpty else { return }
                writer.name(name)
                writer.array { writer in for value in values.sorted() { writer.string(value) } }
            }
            func range<Bound: BinaryInteger>(_ name: StaticString, _ range: ClosedRange<Bound>?) {
                guard let range else { return }
                writer.name(name)
                writer.array { writer in
                    writer.integer(Int64(range.lowerBound))
                    writer.integer(Int64(range.upperBound))
                }
            }
            list("reasons", reasons.map(\.rawValue))
            list("gateways", Array(gateways))
            list("apps", Array(apps))
            list("channels", Array(channels))
            list("users", Array(users))
            list("events", Array(events))
            if let since { writer.member("since", since.rfc3339) }
            if let until { writer.member("until", until.rfc3339) }
            range("attempts", attempts)
            if let partition { writer.member("partition", Int(partition)) }
            range("offsets", offsets)
            if let replay { writer.member("replay", replay) }
        }
    }

    /// Reads what ``write(to:)`` wrote.
    ///
    /// - Throws: ``ReadError`` for anything else, a member that is not known included: a filter that is wider than it was meant is
    ///   worse than none.
    package init(_ reader: inout Reader) throws(ReadError) {
        self.init()
        try reader.readObject { name, reader throws(ReadError) in
            switch name {
            case "reasons":
                for text in try reader.readTexts() {
                    guard let reason = DeadLetterReason(rawValue: text) else {
                        throw reader.unacceptable("is no reason known here")
                    }
                    reasons.insert(reason)
                }
            case "gateways": gateways = Set(try reader.readTexts())
            case "apps": apps = Set(try reader.readTexts())
            case "channels": channels = Set(try reader.readTexts())
            case "users": users = Set(try reader.readTexts())
            case "events": events = Set(try reader.readTexts())
            case "since": since = try reader.readMoment()
            case "until": until = try reader.readMoment()
            case "attempts":
                let range = try reader.readRange()
                attempts = Int(range.lowerBound)...Int(range.upperBound)
            case "partition": partition = Int32(try reader.readInt64(in: 0...Int64(Int32.max)))
            case "offsets": offsets = try reader.readRange()
            case "replay": replay = try reader.readString()
            default: throw reader.unacceptable("is not part of a filter")
            }
        }
    }
}

extension Reader {
    fileprivate mutating func readTexts() throws(ReadError) -> [String] {
        var texts: [String] = []
        try readArray { reader throws(ReadError) in texts.append(try reader.readString()) }
        return texts
    }

    fileprivate mutating func readMoment() throws(ReadError) -> Timestamp {
        guard let moment = Timestamp(rfc3339: try readString()) else {
            throw unacceptable("is not an RFC 3339 timestamp")
        }
        return moment
    }

    fileprivate mutating func readRange() throws(ReadError) -> ClosedRange<Int64> {
        var bounds: [Int64] = []
        try readArray { reader throws(ReadError) in bounds.append(try reader.readInt64(in: 0...Int64.max)) }
        guard bounds.count == 2, bounds[0] <= bounds[1] else { throw unacceptable("is no range") }
        return bounds[0]...bounds[1]
    }
}
