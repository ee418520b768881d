/// A header of a Kafka record, as the domain reads and writes them; no type of any client library.
package struct RecordHeader: Hashable, Sendable {
    package var name: String
    /// nil is Kafka's null, which is not the same as empty.
    package var value: [UInt8]?

    package init(name: String, value: [UInt8]?) {
        self.name = name
        self.value = value
    }

    /// A header with a text.
    package init(_ name: String, _ text: String) {
        self.init(name: name, value: Array(text.utf8))
    }
}
