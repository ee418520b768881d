internal import JSON

/// The values of a script; what does not fit is told with what would.
extension Reader {
    var unknownField: ReadError { ReadError(.unacceptable("unknown field"), offset: position) }

    mutating func readWhole(_ range: ClosedRange<Int>) throws(ReadError) -> Int {
        let value = try readNumber()
        guard let whole = Int(value), range.contains(whole) else {
            throw unacceptable("must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return whole
    }

    mutating func readFraction(_ range: ClosedRange<Double>) throws(ReadError) -> Double {
        let value = try readNumber()
        guard let fraction = Double(value), range.contains(fraction) else {
            throw unacceptable("must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return fraction
    }

    private mutating func readNumber() throws(ReadError) -> String {
        guard try peek() == .number else { throw ReadError(.expected(.number), offset: position) }
        return try readNumberText()
    }

    /// A text of so many UTF-8 bytes.
    mutating func readText(_ range: ClosedRange<Int>) throws(ReadError) -> String {
        let text = try readString()
        guard range.contains(text.utf8.count) else {
            throw unacceptable("must have \(range.lowerBound) to \(range.upperBound) bytes")
        }
        return text
    }

    /// The same, fit for a header line.
    mutating func readHeaderText(_ range: ClosedRange<Int>) throws(ReadError) -> String {
        let text = try readText(range)
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) else {
            throw unacceptable("must be printable ASCII")
        }
        return text
    }

    mutating func readTexts(
        _ count: ClosedRange<Int>,
        of range: ClosedRange<Int>
    ) throws(ReadError) -> [String] {
        try readList(count) { reader throws(ReadError) in try reader.readText(range) }
    }

    mutating func readName() throws(ReadError) -> String {
        let name = try readString()
        guard GatewayScript.isName(name) else {
            throw unacceptable("must be 1 to 64 letters, digits, - or _")
        }
        return name
    }

    mutating func readChoice(_ choices: [String]) throws(ReadError) -> String {
        let text = try readString()
        guard choices.contains(text) else {
            throw unacceptable("must be one of \(choices.joined(separator: ", "))")
        }
        return text
    }

    mutating func readChoice<Choice: RawRepresentable<String> & CaseIterable>() throws(ReadError) -> Choice {
        let text = try readChoice(Choice.allCases.map(\.rawValue))
        guard let choice = Choice(rawValue: text) else { throw unacceptable("unknown") }
        return choice
    }

    mutating func readList<Element>(
        _ count: ClosedRange<Int>,
        _ element: (inout Reader) throws(ReadError) -> Element
    ) throws(ReadError) -> [Element] {
        var list: [Element] = []
        let start = position
        try readArray { reader throws(ReadError) in
            guard list.count < count.upperBound else {
                throw ReadError(.unacceptable("at most \(count.upperBound)"), offset: reader.position)
            }
            list.append(try element(&reader))
        }
        guard count.contains(list.count) else {
            let reason = "must have \(count.lowerBound) to \(count.upperBound) elements"
            throw ReadError(.unacceptable(reason), offset: start)
        }
        return list
    }
}

extension GatewayScript {
    static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
