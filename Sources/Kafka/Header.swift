/// One header on its own, for those who are not in a hurry.
package struct Header: Sendable, Equatable {
    package let nameBytes: [UInt8]
    /// `nil` for a header without a value, which is not an empty one.
    package let value: [UInt8]?

    package init(_ name: String, _ value: [UInt8]?) {
        self.init(nameBytes: Array(name.utf8), value: value)
    }

    package init(_ name: String, text: String) {
        self.init(nameBytes: Array(name.utf8), value: Array(text.utf8))
    }

    package init(nameBytes: [UInt8], value: [UInt8]?) {
        self.nameBytes = nameBytes
        self.value = value
    }

    /// The name as text; bytes that are no UTF-8 are replaced, so compare ``nameBytes`` where it matters.
    package var name: String { String(decoding: nameBytes, as: UTF8.self) }
    /// `nil` if there is no value or it is not UTF-8.
    package var text: String? { value.flatMap { String(validating: $0, as: UTF8.self) } }
}
