/// Why a document was refused, and where.
///
/// It tells position and path, never content: a path holds names of members and indices only, each name
/// bounded and reduced to harmless characters, so that the description may be logged.
package struct ReadError: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        case unexpectedEnd
        case unexpectedByte
        /// The value is of another kind.
        case expected(Kind)
        case invalidNumber
        /// A number that does not fit what was asked for: not whole, or too large.
        case numberOutOfRange
        case invalidUTF8
        case invalidEscape
        /// Half of a surrogate pair in `\u` escapes.
        case loneSurrogate
        case controlCharacter
        case duplicateName
        case trailingBytes
        case documentTooLarge
        case tooDeep
        case tooManyMembers
        case tooManyElements
        case stringTooLong
        /// A required member is not there; the path names it.
        case missing
        /// Well-formed, but not what the caller accepts; the text is the caller's and holds no content.
        case unacceptable(String)
    }

    package let reason: Reason
    /// Where it was noticed, in bytes from the start of the buffer.
    package let offset: Int
    /// The way to the value, such as `pusher.data.url` or `results[3].id`; empty for the document itself.
    package private(set) var path: String

    package init(_ reason: Reason, offset: Int, path: String = "") {
        self.reason = reason
        self.offset = offset
        self.path = path
    }

    /// The same error seen from the object that holds the member.
    func inside(_ name: MemberName) -> ReadError {
        prefixed(with: name.forPath)
    }

    /// The same error seen from the array that holds the element.
    func inside(element index: Int) -> ReadError {
        prefixed(with: "[\(index)]")
    }

    private func prefixed(with step: String) -> ReadError {
        var error = self
        if path.isEmpty {
            error.path = step
        } else {
            error.path = path.utf8.first == UInt8(ascii: "[") ? step + path : step + "." + path
        }
        return error
    }
}

extension ReadError: CustomStringConvertible {
    package var description: String {
        let place = path.isEmpty ? "" : path + ": "
        return "\(place)\(reason) (byte \(offset))"
    }
}

extension ReadError.Reason: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unexpectedEnd: "ends too early"
        case .unexpectedByte: "unexpected character"
        case .expected(let kind): "expected \(kind.withArticle)"
        case .invalidNumber: "malformed number"
        case .numberOutOfRange: "number out of range"
        case .invalidUTF8: "not UTF-8"
        case .invalidEscape: "malformed escape"
        case .loneSurrogate: "half a surrogate pair"
        case .controlCharacter: "control character in a string"
        case .duplicateName: "member named twice"
        case .trailingBytes: "something follows the document"
        case .documentTooLarge: "document too large"
        case .tooDeep: "nested too deeply"
        case .tooManyMembers: "too many members"
        case .tooManyElements: "too many elements"
        case .stringTooLong: "string too long"
        case .missing: "missing"
        case .unacceptable(let why): why
        }
    }
}

extension Kind {
    fileprivate var withArticle: String {
        switch self {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .boolean: "true or false"
        case .null: "null"
        }
    }
}
