extension Reader {
    /// Reads a whole number, exactly.
    ///
    /// - Parameter range: what is accepted; default all of `Int64`.
    /// - Returns: the number.
    /// - Throws: ``ReadError`` with `numberOutOfRange` for a fraction, an exponent, or a number outside `range`.
    package mutating func readInt64(
        in range: ClosedRange<Int64> = Int64.min...Int64.max
    ) throws(ReadError) -> Int64 {
        let number = try scanNumber()
        guard number.isWhole, let value = wholeNumber(number.written), range.contains(value) else {
            throw ReadError(.numberOutOfRange, offset: valueStart)
        }
        return value
    }

    /// Reads a number as the nearest double.
    ///
    /// - Throws: ``ReadError`` with `numberOutOfRange` when it is too large for one.
    package mutating func readDouble() throws(ReadError) -> Double {
        let text = try readNumberText()
        guard let value = Double(text), value.isFinite else {
            throw ReadError(.numberOutOfRange, offset: valueStart)
        }
        return value
    }

    /// Reads a number as it is written, of any size and precision.
    package mutating func readNumberText() throws(ReadError) -> String {
        let number = try scanNumber()
        return String(decoding: bytes[number.written], as: UTF8.self)
    }

    package mutating func readBool() throws(ReadError) -> Bool {
        try expect(.boolean)
        let value = bytes[position] == UInt8(ascii: "t")
        try takeWord(value ? "true" : "false")
        return value
    }

    package mutating func readNull() throws(ReadError) {
        try expect(.null)
        try takeWord("null")
    }

    // MARK: - Values that may be null

    /// Reads null as nil, anything else with `body`.
    package mutating func readNullable<Value>(
        _ body: (inout Reader) throws(ReadError) -> Value
    ) throws(ReadError) -> Value? {
        guard try peek() != .null else {
            try readNull()
            return nil
        }
        return try body(&self)
    }

    package mutating func readNullableString(limit: Int = .max) throws(ReadError) -> String? {
        guard try peek() != .null else {
            try readNull()
            return nil
        }
        return try readString(limit: limit)
    }

    package mutating func readNullableBool() throws(ReadError) -> Bool? {
        guard try peek() != .null else {
            try readNull()
            return nil
        }
        return try readBool()
    }

    package mutating func readNullableInt64(
        in range: ClosedRange<Int64> = Int64.min...Int64.max
    ) throws(ReadError) -> Int64? {
        guard try peek() != .null else {
            try readNull()
            return nil
        }
        return try readInt64(in: range)
    }

    // MARK: - Scanning

    /// Steps over a number, checking its grammar: `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`.
    mutating func scanNumber() throws(ReadError) -> (written: Range<Int>, isWhole: Bool) {
        try expect(.number)
        var index = position
        var isWhole = true
        if bytes[index] == UInt8(ascii: "-") { index += 1 }
        if byte(at: index) == UInt8(ascii: "0") {
            index += 1
        } else {
            index = try endOfDigits(from: index)
        }
        if byte(at: index) == UInt8(ascii: ".") {
            isWhole = false
            index = try endOfDigits(from: index + 1)
        }
        if let letter = byte(at: index), letter | 0x20 == UInt8(ascii: "e") {
            isWhole = false
            index += 1
            if let sign = byte(at: index), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
                index += 1
            }
            index = try endOfDigits(from: index)
        }
        guard byte(at: index)?.isDigit != true else { throw ReadError(.invalidNumber, offset: position) }
        guard index - position <= limits.stringBytes else {
            throw ReadError(.stringTooLong, offset: position)
        }
        let written = position..<index
        advance(to: index)
        return (written, isWhole)
    }

    private func wholeNumber(_ written: Range<Int>) -> Int64? {
        var value: Int64 = 0
        let isNegative = bytes[written.lowerBound] == UInt8(ascii: "-")
        // Counted downwards, because Int64.min has no positive twin.
        for index in (isNegative ? written.dropFirst() : written[...]) {
            let (product, tooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflow) = product.subtractingReportingOverflow(Int64(bytes[index]) - 0x30)
            guard !tooLarge, !overflow else { return nil }
            value = sum
        }
        if isNegative { return value }
        let (positive, overflow) = Int64(0).subtractingReportingOverflow(value)
        return overflow ? nil : positive
    }

    private func endOfDigits(from start: Int) throws(ReadError) -> Int {
        var index = start
        while let digit = byte(at: index), digit.isDigit { index += 1 }
        guard index > start else { throw ReadError(.invalidNumber, offset: position) }
        return index
    }

    private func byte(at index: Int) -> UInt8? {
        index < end ? bytes[index] : nil
    }

    private mutating func takeWord(_ word: StaticString) throws(ReadError) {
        let length = word.utf8CodeUnitCount
        guard end - position >= length else { throw ReadError(.unexpectedEnd, offset: end) }
        guard MemberName(bytes: bytes, range: position..<position + length) == word else {
            throw ReadError(.unexpectedByte, offset: position)
        }
        advance(to: position + length)
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { self >= 0x30 && self <= 0x39 }
}
