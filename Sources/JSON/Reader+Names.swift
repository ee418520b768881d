/// Where a name met before in an open object is written.
struct NameMark {
    let written: Range<Int>
    let isPlain: Bool
}

/// The names that one open object has had.
///
/// The filter is a Bloom filter of 64 bits: a name whose bit is not set is new, and that is all it takes for
/// nearly every name of an ordinary object. Only behind a set bit are the names compared, one by one; the limit
/// on members bounds what a hostile object can cost.
struct NamesOfObject {
    let first: Int
    var filter: UInt64 = 0
}

extension Reader {
    /// Remembers a name and refuses it if the object has had it already.
    mutating func note(
        _ name: MemberName,
        _ scanned: ScannedString,
        in object: inout NamesOfObject,
        at offset: Int
    ) throws(ReadError) {
        let bit = name.filterBit
        if object.filter & bit != 0 {
            for index in object.first..<names.count where isSame(name, names[index]) {
                throw ReadError(.duplicateName, offset: offset).inside(name)
            }
        }
        object.filter |= bit
        if names.isEmpty { names.reserveCapacity(16) }
        names.append(NameMark(written: scanned.content, isPlain: scanned.isPlain))
    }

    private func isSame(_ name: MemberName, _ mark: NameMark) -> Bool {
        let new = name.bytes[name.start..<name.end]
        if mark.isPlain, new.count != mark.written.count { return false }
        return mark.isPlain
            ? new.elementsEqual(bytes[mark.written]) : new.elementsEqual(unescape(mark.written))
    }
}

extension MemberName {
    /// One bit of 64, from the length and the two ends of the name.
    fileprivate var filterBit: UInt64 {
        guard end > start else { return 1 }
        let mixed = (end - start) &* 29 &+ Int(bytes[start]) &* 7 &+ Int(bytes[end - 1]) &* 13
        return 1 << UInt64(truncatingIfNeeded: mixed & 63)
    }
}
