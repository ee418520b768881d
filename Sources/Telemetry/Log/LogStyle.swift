internal import JSON

/// How a log line looks.
package enum LogStyle: Sendable, Equatable {
    /// One JSON object a line: `time` (RFC 3339, UTC), `level`, `event`, then the fields.
    case json
    /// For a person: local time, level, event, `name=value`.
    case text(colours: Bool, secondsFromUTC: Int)

    /// Bytes of a line, its end included, so that one write to a pipe is never torn (POSIX's PIPE_BUF on Linux).
    static let lineLimit = 4096
    /// Bytes of one text in a line.
    static let textLimit = 1024

    func render(_ line: LogLine) -> [UInt8] {
        switch self {
        case .json: line.json()
        case .text(let colours, let offset): line.text(colours: colours, secondsFromUTC: offset)
        }
    }
}

/// One field of a line.
struct LogField: Sendable {
    let name: StaticString
    let value: LogValue
}

/// One event, before it becomes text.
struct LogLine: Sendable {
    /// Milliseconds since the Unix epoch.
    let time: Int64
    let level: Log.Level
    let event: String
    let fields: [LogField]
}

extension LogLine {
    /// A field that would make the line too long is left out, and `truncated` says so.
    func json() -> [UInt8] {
        var writer = Writer()
        writer.beginObject()
        writer.member("time", CivilTime(milliseconds: time).rfc3339)
        writer.member("level", level.rawValue)
        writer.member("event", LogText.bounded(event, keepsControls: true))
        var isTruncated = false
        for field in fields {
            var value = Writer()
            value.write(field.value)
            // Two quotes, colon and comma; at the end room for `,"truncated":true}` and the line feed.
            let needed = writer.bytes.count + field.name.utf8CodeUnitCount + 4 + value.bytes.count + 20
            if needed > LogStyle.lineLimit {
                isTruncated = true
                continue
            }
            writer.name(field.name)
            writer.raw(value.bytes)
        }
        if isTruncated { writer.member("truncated", true) }
        writer.endObject()
        writer.endLine()
        return writer.bytes
    }

    func text(colours: Bool, secondsFromUTC: Int) -> [UInt8] {
        let clock = CivilTime(milliseconds: time + Int64(secondsFromUTC) * 1000).clock
        var line = Self.paint(clock, "2", colours) + " "
        line += Self.paint(level.word, level.colour, colours) + " "
        line += Self.paint(LogText.bounded(event, keepsControls: false), "1", colours)
        var isTruncated = false
        for field in fields {
            let part = " " + Self.paint("\(field.name)=", "2", colours) + Self.plain(field.value)
            if line.utf8.count + part.utf8.count + 3 > LogStyle.lineLimit {
                isTruncated = true
                continue
            }
            line += part
        }
        return Array((line + (isTruncated ? " …" : "") + "\n").utf8.prefix(LogStyle.lineLimit))
    }

    private static func paint(_ text: String, _ code: String, _ colours: Bool) -> String {
        colours ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
    }

    private static func plain(_ value: LogValue) -> String {
        switch value {
        case .text(let text):
            let bounded = LogText.bounded(text, keepsControls: false)
            let isBare = !bounded.isEmpty && !bounded.contains { $0 == " " || $0 == "\"" || $0 == "=" }
            return isBare ? bounded : "\"\(bounded.replacing("\"", with: "\\\""))\""
        case .int64(let value): return String(value)
        case .number(let value): return value.description
        case .flag(let value): return value.description
        case .duration(let value): return "\(LogText.seconds(value))s"
        }
    }
}

extension Writer {
    fileprivate mutating func write(_ value: LogValue) {
        switch value {
        case .text(let text): string(LogText.bounded(text, keepsControls: true))
        case .int64(let value): integer(value)
        case .number(let value): double(value)
        case .flag(let value): bool(value)
        case .duration(let value): double(LogText.seconds(value))
        }
    }
}

extension Log.Level {
    fileprivate var word: String {
        switch self {
        case .debug: "DEBUG"
        case .info: "INFO "
        case .warning: "WARN "
        case .error: "ERROR"
        }
    }

    /// The number of an SGR sequence (ECMA-48).
    fileprivate var colour: String {
        switch self {
        case .debug: "2"
        case .info: "32"
        case .warning: "33"
        case .error: "1;31"
        }
    }
}
