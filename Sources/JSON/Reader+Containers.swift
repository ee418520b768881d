extension Reader {
    /// Reads an object; `member` is called for each of its members and reads the value, or leaves it alone,
    /// in which case it is skipped.
    ///
    /// - Throws: ``ReadError``, its path prefixed with the member's name when `member` threw it.
    package mutating func readObject(
        _ member: (_ name: MemberName, _ reader: inout Reader) throws(ReadError) -> Void
    ) throws(ReadError) {
        try expect(.object, startingWith: UInt8(ascii: "{"))
        let start = position
        try enter()
        var known = NamesOfObject(first: names.count)
        if try !closes(UInt8(ascii: "}")) {
            var count = 0
            repeat {
                count += 1
                guard count <= limits.members else { throw ReadError(.tooManyMembers, offset: position) }
                try readMember(&known, member)
            } while try continues(until: UInt8(ascii: "}"))
        }
        names.removeLast(names.count - known.first)
        leave(start)
    }

    /// Reads an array; `element` is called for each of its elements and reads it, or leaves it alone,
    /// in which case it is skipped.
    ///
    /// - Throws: ``ReadError``, its path prefixed with the index when `element` threw it.
    package mutating func readArray(
        _ element: (_ reader: inout Reader) throws(ReadError) -> Void
    ) throws(ReadError) {
        try expect(.array, startingWith: UInt8(ascii: "["))
        let start = position
        try enter()
        if try !closes(UInt8(ascii: "]")) {
            var index = 0
            repeat {
                guard index < limits.elements else { throw ReadError(.tooManyElements, offset: position) }
                let before = position
                do throws(ReadError) {
                    try element(&self)
                    if position == before { try skipValue() }
                } catch {
                    throw error.inside(element: index)
                }
                index += 1
            } while try continues(until: UInt8(ascii: "]"))
        }
        leave(start)
    }

    /// Steps over one value of any kind, checking it as thoroughly as if it were read.
    package mutating func skipValue() throws(ReadError) {
        switch try peek() {
        case .object: try readObject { _, _ in }
        case .array: try readArray { _ in }
        case .string: _ = try scanString()
        case .number: _ = try scanNumber()
        case .boolean: _ = try readBool()
        case .null: try readNull()
        }
    }

    /// Steps over one value and returns where it lies in the buffer, for splicing it elsewhere as it is.
    package mutating func readRaw() throws(ReadError) -> Range<Int> {
        let start = position
        try skipValue()
        var last = position
        while last > start, bytes[last - 1].isWhitespace { last -= 1 }
        valueStart = start
        return start..<last
    }

    /// Steps over one value and returns a copy of its bytes.
    package mutating func readRawBytes() throws(ReadError) -> [UInt8] {
        Array(bytes[try readRaw()])
    }

    // MARK: - The punctuation

    private mutating func readMember(
        _ known: inout NamesOfObject,
        _ member: (MemberName, inout Reader) throws(ReadError) -> Void
    ) throws(ReadError) {
        guard position < end else { throw ReadError(.unexpectedEnd, offset: position) }
        guard bytes[position] == UInt8(ascii: "\"") else {
            throw ReadError(.unexpectedByte, offset: position)
        }
        let nameStart = position
        let scanned = try scanString()
        let name: MemberName
        if scanned.isPlain {
            name = MemberName(bytes: bytes, range: scanned.content)
        } else {
            let decoded = unescape(scanned.content)
            name = MemberName(bytes: decoded, range: 0..<decoded.count)
        }
        if !limits.allowsDuplicateNames {
            try note(name, scanned, in: &known, at: nameStart)
        }
        try take(UInt8(ascii: ":"))
        let before = position
        do throws(ReadError) {
            try member(name, &self)
            if position == before { try skipValue() }
        } catch {
            throw error.inside(name)
        }
    }

    @inline(__always)
    private mutating func enter() throws(ReadError) {
        depth += 1
        guard depth <= limits.depth else { throw ReadError(.tooDeep, offset: position) }
        advance(to: position + 1)
    }

    @inline(__always)
    private mutating func leave(_ start: Int) {
        depth -= 1
        valueStart = start
    }

    @inline(__always)
    private mutating func take(_ byte: UInt8) throws(ReadError) {
        guard position < end else { throw ReadError(.unexpectedEnd, offset: position) }
        guard bytes[position] == byte else { throw ReadError(.unexpectedByte, offset: position) }
        advance(to: position + 1)
    }

    @inline(__always)
    private mutating func closes(_ closing: UInt8) throws(ReadError) -> Bool {
        guard position < end else { throw ReadError(.unexpectedEnd, offset: position) }
        guard bytes[position] == closing else { return false }
        advance(to: position + 1)
        return true
    }

    @inline(__always)
    private mutating func continues(until closing: UInt8) throws(ReadError) -> Bool {
        if try closes(closing) { return false }
        try take(UInt8(ascii: ","))
        return true
    }
}
