extension IPAddress {
    /// Reads four decimal numbers without leading zeros; no other form that `inet_aton` would take.
    init?(v4 text: Substring) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var address = InlineAddress<4>()
        for (index, part) in parts.enumerated() {
            guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ Digits.digit($0) != nil }),
                part == "0" || part.utf8.first != UInt8(ascii: "0"), let value = UInt8(part)
            else { return nil }
            address[index] = value
        }
        self = .v4(address)
    }

    /// Reads the text of an IPv6 address, without brackets and without a zone.
    ///
    /// Source: RFC 4291 §2.2.
    init?(v6 text: Substring) {
        guard text.utf8.count <= 45 else { return nil }
        let halves = text.split(separator: "::", maxSplits: 2, omittingEmptySubsequences: false)
        guard halves.count <= 2, let head = Self.groups(halves[0], mayEndInV4: halves.count == 1) else {
            return nil
        }
        var tail: [UInt16] = []
        if halves.count == 2 {
            guard let groups = Self.groups(halves[1], mayEndInV4: true), head.count + groups.count <= 7 else {
                return nil
            }
            tail = groups
        } else {
            guard head.count == 8 else { return nil }
        }
        var address = InlineAddress<16>()
        let gap = [UInt16](repeating: 0, count: 8 - head.count - tail.count)
        for (index, group) in (head + gap + tail).enumerated() {
            address[2 * index] = UInt8(truncatingIfNeeded: group >> 8)
            address[2 * index + 1] = UInt8(truncatingIfNeeded: group)
        }
        self = .v6(address)
    }

    private static func groups(_ text: Substring, mayEndInV4: Bool) -> [UInt16]? {
        guard !text.isEmpty else { return [] }
        var groups: [UInt16] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if mayEndInV4, index == parts.count - 1, case .v4(let address)? = IPAddress(v4: part) {
                groups.append(UInt16(address[0]) << 8 | UInt16(address[1]))
                groups.append(UInt16(address[2]) << 8 | UInt16(address[3]))
            } else {
                guard (1...4).contains(part.utf8.count),
                    part.utf8.allSatisfy({ Hexadecimal.value($0) != nil }),
                    let group = UInt16(part, radix: 16)
                else { return nil }
                groups.append(group)
            }
        }
        return groups
    }
}

extension IPAddress: CustomStringConvertible {
    /// The one canonical text: lower case, the first longest run of zeros as `::`, brackets left out.
    ///
    /// Source: RFC 5952 §4.
    var description: String {
        switch self {
        case .v4(let address): "\(address[0]).\(address[1]).\(address[2]).\(address[3])"
        case .v6(let address):
            Self.text((0..<8).map { UInt16(address[2 * $0]) << 8 | UInt16(address[2 * $0 + 1]) })
        }
    }

    private static func text(_ groups: [UInt16]) -> String {
        var longest = 0..<0
        var start = 0
        while start < groups.count {
            var end = start
            while end < groups.count, groups[end] == 0 { end += 1 }
            if end - start >= 2, end - start > longest.count { longest = start..<end }
            start = max(end, start + 1)
        }
        func joined(_ groups: ArraySlice<UInt16>) -> String {
            groups.map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard !longest.isEmpty else { return joined(groups[...]) }
        return joined(groups[..<longest.lowerBound]) + "::" + joined(groups[longest.upperBound...])
    }
}
