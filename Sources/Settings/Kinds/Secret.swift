/// A value that must not appear in output: whatever prints, interpolates, dumps or reflects it gets `redacted`.
///
/// It keeps a value out of logs and messages, not out of memory; keys live in `Sealing.SecretBytes`.
package struct Secret<Value: Sendable>: Sendable {
    private let hidden: Value

    package init(_ value: Value) {
        hidden = value
    }

    /// The value itself, for the call that needs it.
    package func reveal() -> Value {
        hidden
    }
}

extension Secret: Equatable where Value: Equatable {}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "redacted" }
    package var debugDescription: String { "redacted" }
    package var customMirror: Mirror { Mirror(self, children: [] as [Mirror.Child]) }
}
