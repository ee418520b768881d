/// The name of a member as the reader met it: compared as bytes, made a `String` only on request.
///
/// ```swift
/// switch name {
/// case "results": …
/// default: break            // what is left alone is skipped
/// }
/// ```
package struct MemberName: Sendable {
    let bytes: [UInt8]
    let start: Int
    let end: Int

    init(bytes: [UInt8], range: Range<Int>) {
        self.bytes = bytes
        start = range.lowerBound
        end = range.upperBound
    }

    /// The name as text.
    package var text: String {
        String(decoding: bytes[start..<end], as: UTF8.self)
    }

    @inline(__always)
    package static func == (name: MemberName, literal: StaticString) -> Bool {
        guard name.end - name.start == literal.utf8CodeUnitCount else { return false }
        return name.hasBytes(of: literal)
    }

    /// Lets `switch` compare with literals.
    package static func ~= (literal: StaticString, name: MemberName) -> Bool {
        name == literal
    }

    /// Compares as many bytes as the name has.
    private func hasBytes(of literal: StaticString) -> Bool {
        let name = bytes.span.extracting(start..<end)
        return literal.withUTF8Buffer { expected in
            for index in 0..<name.count where unsafe name[index] != expected[index] { return false }
            return true
        }
    }

    /// The name for an error's path: a stranger chose it, so it is cut and made printable.
    var forPath: String {
        var step: [UInt8] = []
        for byte in bytes[start..<end].prefix(40) {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
                UInt8(ascii: "."):
                step.append(byte)
            default:
                step.append(UInt8(ascii: "?"))
            }
        }
        return String(decoding: step, as: UTF8.self)
    }
}
