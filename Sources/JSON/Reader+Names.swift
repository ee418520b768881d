/// A name met before in an open object: where it is written, and enough of it to tell most others apart.
struct NameMark {
    let signature: UInt64
    let written: Range<Int>
    let isPlain: Bool
}

extension Reader {
    /// Remembers a name and refuses it if the object has had it already.
    ///
    /// Objects are small, so the names before it are compared one by one, by length, first and last byte first;
    /// the limit on members bounds what a hostile object can cost.
    mutating func note(
        _ name: MemberName,
        _ scanned: ScannedString,
        namesFrom first: Int,
        at offset: Int
    ) throws(ReadError) {
        var signature = UInt64(truncatingIfNeeded: name.end - name.start) << 16
        if name.end > name.start {
            signature |= UInt64(name.bytes[name.start]) << 8 | UInt64(name.bytes[name.end - 1])
        }
        for index in first..<names.count where names[index].signature == signature {
            if isSame(name, names[index]) { throw ReadError(.duplicateName, offset: offset).inside(name) }
        }
        names.append(NameMark(signature: signature, written: scanned.content, isPlain: scanned.isPlain))
    }

    private func isSame(_ name: MemberName, _ mark: NameMark) -> Bool {
        let new = name.bytes[name.start..<name.end]
        return mark.isPlain
            ? new.elementsEqual(bytes[mark.written]) : new.elementsEqual(unescape(mark.written))
    }
}
