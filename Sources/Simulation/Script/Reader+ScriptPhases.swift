internal import HTTPServer
internal import JSON

/// Phases, rules and rules for items, as docs/simulated-gateway.md has them.
extension Reader {
    mutating func readPhase() throws(ReadError) -> GatewayScript.Phase {
        var phase = GatewayScript.Phase(name: "")
        var knownApps: Set<String>?
        var isReference = false
        try readObject { name, reader throws(ReadError) in
            switch name {
            case "name": phase.name = try reader.readName()
            case "lasts_s": phase.lasts = .seconds(try reader.readFraction(0.001...604_800))
            case "requests": phase.requests = try reader.readWhole(1...1_000_000_000)
            case "manner": isReference = try reader.readChoice(["specified", "reference"]) == "reference"
            case "known_apps": knownApps = Set(try reader.readTexts(0...1000, of: 1...64))
            case "connection": phase.connection = try reader.readConnection()
            case "rules":
                phase.rules = try reader.readList(0...100) { reader throws(ReadError) in
                    try reader.readRule()
                }
            default: throw reader.unknownField
            }
        }
        guard !phase.name.isEmpty else { throw missing("name") }
        guard isReference || knownApps == nil else {
            throw unacceptable("known_apps goes with the manner reference")
        }
        if isReference { phase.manner = .reference(knownApps: knownApps) }
        return phase
    }

    private mutating func readConnection() throws(ReadError) -> GatewayScript.Connection {
        if try peek() == .object {
            var identity: String?
            try readObject { name, reader throws(ReadError) in
                guard name == "certificate" else { throw reader.unknownField }
                identity = try reader.readName()
            }
            guard let identity else { throw missing("certificate") }
            return .serve(identity: identity)
        }
        return switch try readChoice(["serve", "close", "reset", "hang", "garbage"]) {
        case "close": .close
        case "reset": .reset
        case "hang": .hang
        case "garbage": .garbage
        default: .serve()
        }
    }

    private mutating func readRule() throws(ReadError) -> GatewayScript.Rule {
        var rule = GatewayScript.Rule()
        var answer = AnswerFields()
        try readObject { name, reader throws(ReadError) in
            switch name {
            case "path": rule.path = try reader.readText(1...256)
            case "apps": rule.apps = try reader.readTexts(0...100, of: 1...64)
            case "share": rule.share = try reader.readFraction(0...1)
            case "delay_ms": rule.delay = try reader.readDelay()
            case "retry_after": rule.retryAfter = try reader.readRetryAfter()
            case "order": rule.order = try reader.readChoice()
            case "unset": rule.unset = try reader.readChoice()
            case "summary": rule.summary = try reader.readChoice()
            case "unknown_ids": rule.unknownIDs = try reader.readWhole(0...100)
            case "forget": rule.forgets = try reader.readBool()
            case "items":
                rule.items = try reader.readList(0...100) { reader throws(ReadError) in
                    try reader.readItemRule()
                }
            default: try reader.readAnswer(name, &answer)
            }
        }
        rule.action = try answer.action(self)
        rule.pace = answer.pace
        return rule
    }

    private mutating func readAnswer(_ name: MemberName, _ answer: inout AnswerFields) throws(ReadError) {
        switch name {
        case "status": answer.status = try readWhole(200...599)
        case "body": answer.body = try readText(0...65_536)
        case "content_type": answer.type = try readHeaderText(1...256)
        case "answer":
            answer.kind = try readChoice([
                "regular", "hang", "close", "html", "empty", "bad_json", "wrong_json",
            ])
        case "truncate_bytes": answer.truncated = try readWhole(0...1_048_576)
        case "break_off_bytes": answer.brokenOff = try readWhole(0...1_048_576)
        case "trickle": answer.trickle = try readTrickle()
        default: throw unknownField
        }
    }

    private mutating func readTrickle() throws(ReadError) -> Pace {
        var pace = Pace(bytes: 1, every: .seconds(1))
        try readObject { name, reader throws(ReadError) in
            switch name {
            case "bytes": pace.bytes = try reader.readWhole(1...65_536)
            case "every_ms": pace.every = .milliseconds(try reader.readWhole(1...60_000))
            default: throw reader.unknownField
            }
        }
        return pace
    }

    private mutating func readDelay() throws(ReadError) -> ClosedRange<Duration> {
        guard try peek() == .array else {
            let delay = Duration.milliseconds(try readWhole(0...3_600_000))
            return delay...delay
        }
        let ends = try readList(2...2) { reader throws(ReadError) in try reader.readWhole(0...3_600_000) }
        guard ends[0] <= ends[1] else { throw unacceptable("must be [from, to] with from at most to") }
        return .milliseconds(ends[0]) ... .milliseconds(ends[1])
    }

    private mutating func readRetryAfter() throws(ReadError) -> GatewayScript.RetryAfter {
        switch try peek() {
        case .number: return .seconds(try readWhole(0...604_800))
        case .object:
            var seconds: Int?
            try readObject { name, reader throws(ReadError) in
                guard name == "date_in_s" else { throw reader.unknownField }
                seconds = try reader.readWhole(-604_800...604_800)
            }
            guard let seconds else { throw missing("date_in_s") }
            return .date(after: seconds)
        default: return .text(try readHeaderText(1...256))
        }
    }

    private mutating func readItemRule() throws(ReadError) -> GatewayScript.ItemRule {
        var rule = GatewayScript.ItemRule(outcome: .success)
        var hasOutcome = false
        try readObject { name, reader throws(ReadError) in
            switch name {
            case "apps": rule.apps = try reader.readTexts(0...100, of: 1...64)
            case "pushkeys": rule.pushkeys = Set(try reader.readTexts(0...10_000, of: 1...512))
            case "share": rule.share = try reader.readFraction(0...1)
            case "by": rule.byPushkey = try reader.readChoice(["item", "pushkey"]) == "pushkey"
            case "outcome":
                rule.outcome = try reader.readChoice()
                hasOutcome = true
            case "error": rule.error = try reader.readText(0...1024)
            default: throw reader.unknownField
            }
        }
        guard hasOutcome else { throw missing("outcome") }
        return rule
    }
}

/// The fields of a rule that say together what is answered.
private struct AnswerFields {
    var status: Int?
    var body: String?
    var type: String?
    var kind: String?
    var truncated: Int?
    var brokenOff: Int?
    var trickle: Pace?

    var pace: Pace? {
        guard trickle != nil || brokenOff != nil else { return nil }
        var pace = trickle ?? Pace()
        pace.breaksOffAfter = brokenOff
        return pace
    }

    func action(_ reader: Reader) throws(ReadError) -> GatewayScript.Action {
        guard [status != nil, kind != nil, truncated != nil].count(where: { $0 }) <= 1 else {
            throw reader.unacceptable("only one of status, answer and truncate_bytes")
        }
        if let status { return .status(status, body: body, type: type ?? "application/json") }
        guard body == nil, type == nil else {
            throw reader.unacceptable("body and content_type go with status")
        }
        if let truncated { return .truncate(truncated) }
        return switch kind {
        case "hang": .hang
        case "close": .close
        case "html": .html
        case "empty": .empty
        case "bad_json": .badJSON
        case "wrong_json": .wrongJSON
        default: .answer
        }
    }
}
