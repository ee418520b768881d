import HTTPClient
import JSON
import LocalServices
import Support

/// One line of what gematik's own gateway was recorded to answer, as far as it can be asked again.
struct RecordedExchange {
    var name = ""
    var path = ""
    var type = ""
    var status = 0
    var answer: [UInt8] = []
    private var request: [UInt8]?
    private var verb = ""
    private var isSeen = false
    private var hasOtherHeaders = false

    /// The provider was slower than the next request; an app was checked before the database was missed; recorded as escapes.
    private static let others: Set = [
        "plain-dead-token-2nd", "db-down-enc-batch-unknown-app", "enc-ciphertext-1404-code-units-emoji",
    ]

    static func all() throws -> [RecordedExchange] {
        let file = Files.read(Checkout.path("Tests/Vectors/gateway-answers.ndjson")) ?? []
        return try file.split(separator: 0x0a).compactMap { line in
            let text = String(decoding: line, as: UTF8.self)
            // Half a surrogate pair was sent on purpose; a strict reader takes none.
            if text.contains(#"\ud800"#) { return nil }
            let exchange = try RecordedExchange(Array(line))
            return exchange.isSeen && exchange.status != 0 && exchange.path.hasPrefix("/") ? exchange : nil
        }
    }

    private init(_ line: [UInt8]) throws(ReadError) {
        var exchange = (name: "", isSeen: false)
        var request: Range<Int>?
        var response: Range<Int>?
        try Reader.read(line) { reader throws(ReadError) in
            try reader.readObject { name, reader throws(ReadError) in
                switch name {
                case "case": exchange.name = try reader.readString()
                case "seen": exchange.isSeen = try reader.readBool()
                case "request": request = try reader.readRaw()
                case "response": response = try reader.readRaw()
                default: break
                }
            }
        }
        name = exchange.name
        isSeen = exchange.isSeen
        if let request { try readRequest(Array(line[request])) }
        if let response { try readResponse(Array(line[response])) }
    }

    private mutating func readRequest(_ bytes: [UInt8]) throws(ReadError) {
        var found = self
        try Reader.read(bytes) { reader throws(ReadError) in
            try reader.readObject { name, reader throws(ReadError) in
                switch name {
                case "method": found.verb = try reader.readNullableString() ?? ""
                case "path": found.path = try reader.readNullableString() ?? ""
                case "headers" where try reader.peek() == .object:
                    try reader.readObject { name, reader throws(ReadError) in
                        if name == "Content-Type" {
                            found.type = try reader.readString()
                        } else {
                            found.hasOtherHeaders = true
                        }
                    }
                case "body": found.request = try reader.readRawBytes()
                default: break
                }
            }
        }
        self = found
    }

    private mutating func readResponse(_ bytes: [UInt8]) throws(ReadError) {
        var found = self
        try Reader.read(bytes) { reader throws(ReadError) in
            try reader.readObject { name, reader throws(ReadError) in
                switch name {
                case "status": found.status = Int(try reader.readNullableInt64() ?? 0)
                case "body_fields": found.answer = try reader.readRawBytes()
                default: break
                }
            }
        }
        self = found
    }

    var isPlain: Bool { path == "/push/v1/notify/batch" }

    var method: HTTPClient.Request.Method? {
        switch verb {
        case "POST": .post
        case "GET": .get
        case "PUT": .put
        case "DELETE": .delete
        default: nil
        }
    }

    /// What has to be sent, or nil where it was recorded in words only, abbreviated, or in a state that is not simulated.
    var body: String? {
        guard !hasOtherHeaders, !path.hasPrefix("/actuator"), !name.hasPrefix("consumer-mode"),
            !Self.others.contains(name)
        else { return nil }
        if method != .post || name.hasPrefix("content-type-") {
            return name.hasSuffix("-none") ? nil : Sample.batch([Sample.item("a1", Self.sample)])
        }
        guard let request, request.first == UInt8(ascii: "{") else { return nil }
        let text = Self.expanded(String(decoding: request, as: UTF8.self))
        let told = String(decoding: answer, as: UTF8.self)
        return text.contains("entries, first") || told.contains("entries, ") ? nil : text
    }

    private static let sample = Sample.encrypted().replacing(
        "com.example.app.apns",
        with: "com.example.alpha.apns"
    )

    /// `<1404 chars: CzBVep/E…>` stands for a text of that length that begins so.
    private static func expanded(_ text: String) -> String {
        text.replacing(/<(\d+) chars: ([^…>\\]*)(?:…|\\u2026)?>/) { match in
            let start = String(match.output.2)
            guard let count = Int(match.output.1), !start.isEmpty else { return String(match.output.0) }
            return String(String(repeating: start, count: count / start.count + 1).prefix(count))
        }
    }

    /// The phase in which the gateway was.
    var phase: String {
        if name.hasPrefix("db-down") { return "database" }
        return name.hasPrefix("broker-down") || name.hasPrefix("queue-full") ? "broker" : "running"
    }

    /// Keys that this answer tells dead, and one that a provider refused without that ever being told.
    var refusedKeys: [String] {
        var keys: [String] = []
        if let results = try? Results(answer) {
            keys = results.all.flatMap { $0.rejected ?? [] }
        } else if path == "/push/v1/notify", status == 200 {
            keys = String(decoding: answer, as: UTF8.self).matches(of: /[0-9a-f]{64}/).map {
                String($0.output)
            }
        }
        return keys
    }
}

/// An answer without what differs from run to run.
enum Canonical {
    static func text(_ body: [UInt8], sortingResults: Bool) throws(ReadError) -> String {
        guard !body.isEmpty else { return "" }
        return try Reader.read(body) { reader throws(ReadError) in
            try value(&reader, name: "", sortingResults, isResult: false)
        }
    }

    private static func value(
        _ reader: inout Reader,
        name: String,
        _ sorting: Bool,
        isResult: Bool
    ) throws(ReadError) -> String {
        switch try reader.peek() {
        case .object:
            var members: [String] = []
            try reader.readObject { member, reader throws(ReadError) in
                let member = member.text
                let text = try value(&reader, name: member, sorting, isResult: name == "results")
                members.append("\(member):\(text)")
            }
            return "{\(members.joined(separator: ","))}"
        case .array:
            var elements: [String] = []
            try reader.readArray { reader throws(ReadError) in
                elements.append(try value(&reader, name: name, sorting, isResult: false))
            }
            if sorting, name == "results" { elements.sort() }
            return "[\(elements.joined(separator: ","))]"
        case .string:
            let text = try reader.readString()
            if name == "timestamp" || (isResult && name == "error" && !text.isEmpty) { return "<text>" }
            return "\"\(text)\""
        case .number, .boolean, .null:
            return String(decoding: try reader.readRawBytes(), as: UTF8.self)
        }
    }
}
