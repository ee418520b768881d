package import JSON

/// What became of one item of a gateway's record.
package struct OpenedItem: Sendable {
    /// The item's id, where it could be read.
    package let id: String?
    /// Whose device it is, where there is one.
    package let user: String?
    package let pushkey: String?
    /// The content, or why there is none.
    package let outcome: Result<[UInt8], OpenError>

    package var isOpened: Bool {
        switch outcome {
        case .success: true
        case .failure: false
        }
    }

    /// Writes the line that `posthorn device open` prints: `id`, `user`, `pushkey`, and `plaintext` or `error`.
    ///
    /// JSON holds text only: what is no UTF-8 in a plaintext is replaced by U+FFFD.
    package func write(to writer: inout Writer) {
        writer.object { writer in
            writer.memberOrNull("id", id)
            writer.memberOrNull("user", user)
            writer.memberOrNull("pushkey", pushkey)
            switch outcome {
            case .success(let plaintext): writer.member("plaintext", utf8: plaintext)
            case .failure(let error): writer.member("error", error.description)
            }
        }
        writer.endLine()
    }
}

extension Writer {
    fileprivate mutating func memberOrNull(_ name: StaticString, _ value: String?) {
        self.name(name)
        if let value { string(value) } else { null() }
    }
}
