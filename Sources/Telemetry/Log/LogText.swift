/// Text from anywhere, made fit for a log line.
enum LogText {
    /// At most ``LogStyle/textLimit`` bytes, and nothing in it that could steer a terminal or hide text from a reader.
    ///
    /// Control and format characters (with the ones that turn the direction of writing, and line separators) become `\u{…}`. With `keepsControls`
    /// those below U+0020 stay, for JSON's writer has its own escapes for them.
    static func bounded(_ text: String, keepsControls: Bool) -> String {
        let isPlain =
            text.utf8.count <= LogStyle.textLimit && text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f }
        if isPlain { return text }
        var result = ""
        var size = 0
        for scalar in text.unicodeScalars {
            let piece = piece(of: scalar, keepsControls: keepsControls)
            size += piece.utf8.count
            if size > LogStyle.textLimit - "…".utf8.count { return result + "…" }
            result += piece
        }
        return result
    }

    private static func piece(of scalar: Unicode.Scalar, keepsControls: Bool) -> String {
        if scalar.value < 0x20, keepsControls { return String(scalar) }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse:
            return "\\u{\(String(scalar.value, radix: 16))}"
        default:
            return String(scalar)
        }
    }

    /// A duration in seconds, to the microsecond.
    static func seconds(_ duration: Duration) -> Double {
        (duration / .seconds(1) * 1e6).rounded() / 1e6
    }
}
