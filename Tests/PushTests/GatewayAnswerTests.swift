import Testing

@testable import Push

struct GatewayAnswerTests {
    static let now = Timestamp(seconds: 1_700_000_000)

    private func read(
        _ status: Int,
        _ body: String,
        type: String? = "application/json",
        retryAfter: String? = nil,
        to format: NotificationFormat = .gematik12Encrypted
    ) -> GatewayAnswer {
        let response = GatewayResponse(
            status: status,
            contentType: type,
            retryAfter: retryAfter,
            body: Array(body.utf8)
        )
        return GatewayAnswer(response, to: format, now: Self.now)
    }

    private func outcomes(_ answer: GatewayAnswer, pushkey: String = "own") -> [String: Outcome] {
        guard case .results(let results, _) = answer else { return [:] }
        return Dictionary(
            results.map {
                (String(decoding: $0.id, as: UTF8.self), $0.outcome(pushkey: Array(pushkey.utf8)))
            },
            uniquingKeysWith: { first, _ in first }
        )
    }

    private static func permutations(_ items: [String]) -> [[String]] {
        guard items.count > 1 else { return [items] }
        return items.indices.flatMap { index in
            var rest = items
            let item = rest.remove(at: index)
            return permutations(rest).map { [item] + $0 }
        }
    }

    @Test func `G2 every order of five results gives the same outcome per id`() {
        let results = [
            #"{"id":"a","status":"success","rejected":[],"error":null}"#,
            #"{"id":"b","status":"failed","error":"x"}"#,
            #"{"id":"c","status":"failed","rejected":["own"],"error":"x"}"#,
            #"{"id":"d","status":"partial","rejected":null}"#,
            #"{"id":"e","status":"success","rejected":["foreign"]}"#,
        ]
        let expected: [String: Outcome] = [
            "a": .accepted, "b": .transient(.itemFailed), "c": .rejected, "d": .transient(.itemFailed),
            "e": .accepted,
        ]
        let orders = Self.permutations(results)
        #expect(orders.count == 120)
        for order in orders {
            let body =
                #"{"results":[\#(order.joined(separator: ","))],"summary":{"total":5,"successful":2,"failed":2,"partial":1}}"#
            #expect(outcomes(read(200, body)) == expected)
        }
    }

    @Test(arguments: [
        "", #","rejected":null"#, #","rejected":[]"#, #","error":null,"rejected":[]"#,
        #","error":"","rejected":null"#,
    ])
    func `G4 null, absent and empty mean the same`(members: String) {
        let body =
            #"{"results":[{"id":"a","status":"success"\#(members)}],"summary":null,"details":{"duplicate_ids":null}}"#
        #expect(read(200, body) == .results([ItemResult(id: [0x61], status: .success)], unreadable: 0))
        let failed = #"{"results":[{"id":"a","status":"failed"\#(members)}]}"#
        #expect(outcomes(read(200, failed)) == ["a": .transient(.itemFailed)])
    }

    @Test func `M11 a key that was not sent counts for nothing`() {
        let body = #"{"results":[{"id":"a","status":"failed","rejected":["someone-elses-key"]}]}"#
        #expect(outcomes(read(200, body)) == ["a": .transient(.itemFailed)])
        #expect(outcomes(read(200, body), pushkey: "someone-elses-key") == ["a": .rejected])
    }

    @Test func `a result that makes no sense costs only itself`() {
        let body =
            #"{"results":["<98 entries>",{"status":"success"},{"id":5,"status":"success"},null,"#
            + #"{"id":"a","status":"done"},{"id":"b","status":1,"rejected":"own"},{"id":"c","status":"success","rejected":[1,null]}]}"#
        guard case .results(let results, let unreadable) = read(200, body) else {
            Issue.record("not read")
            return
        }
        #expect(unreadable == 4)
        #expect(
            results.map { $0.outcome(pushkey: Array("own".utf8)) } == [
                .transient(.unreadableAnswer), .transient(.unreadableAnswer), .accepted,
            ]
        )
    }

    @Test(
        arguments: [
            "", "<html>ok</html>", "{", #"{"results":[{"id":"a","status":"success""#, "[]", "null", "{}",
            #"{"results":null}"#,
            #"{"results":{}}"#, #"{"results":[]} x"#, "\u{FEFF}{\"results\":[]}",
        ]
    )
    func `G7 a success that cannot be read is transient`(body: String) {
        #expect(read(200, body) == .transient(.unreadableAnswer, after: nil))
    }

    @Test func `an answer without results for anybody is still an answer`() {
        #expect(read(200, #"{"results":[]}"#) == .results([], unreadable: 0))
    }

    @Test(arguments: [201, 202, 204, 206, 100, 0, -1, 600, 999])
    func `other successes and what is no status are unreadable`(status: Int) {
        #expect(read(status, #"{"results":[]}"#) == .transient(.unreadableAnswer, after: nil))
    }

    @Test(arguments: [401, 403])
    func `credentials are the destination's fault`(status: Int) {
        #expect(read(status, "") == .fault(.credential))
    }

    @Test(arguments: [
        301, 302, 307, 308, 304, 402, 404, 405, 406, 407, 409, 410, 414, 415, 421, 426, 431, 451,
    ])
    func `G6 a wrong path, a proxy or a redirect is the destination's fault`(status: Int) {
        #expect(read(status, "") == .fault(.configuration))
    }

    @Test(arguments: [
        (408, TransientCause.timeout), (425, .serverError), (429, .throttled), (500, .serverError),
        (501, .serverError), (502, .serverError), (503, .serverError), (504, .serverError),
        (599, .serverError),
    ])
    func `G5 what passes is transient`(status: Int, cause: TransientCause) {
        #expect(read(status, "<html>") == .transient(cause, after: nil))
        #expect(
            read(status, "", retryAfter: "30") == .transient(cause, after: Timestamp(seconds: 1_700_000_030))
        )
        #expect(
            read(status, "", retryAfter: "Wed, 15 Nov 2023 00:00:00 GMT")
                == .transient(cause, after: Timestamp(seconds: 1_700_006_400))
        )
        #expect(read(status, "", retryAfter: "soon") == .transient(cause, after: nil))
    }

    @Test(
        arguments: [
            (
                400, #"{"error":"Invalid data format"}"#, Refusal.Kind.invalidFormat,
                DeadLetterReason.messageRefused
            ),
            (
                400, #"{"error":"Batch size exceeds maximum limit","details":{"max_batch_size":100}}"#,
                .tooManyItems, .messageRefused
            ),
            (
                400, #"{"error":"Duplicate notification IDs in batch","details":{"duplicate_ids":["a"]}}"#,
                .duplicateIDs, .messageRefused
            ),
            (
                400,
                #"{"error":"Individual notification too large","details":{"max_notification_size_kb":3}}"#,
                .itemTooLarge, .notificationTooLarge
            ),
            (
                413,
                #"{"error":"Batch request payload is too large.","details":{"max_request_size_kb":256}}"#,
                .batchTooLarge, .notificationTooLarge
            ),
            (413, "<html>too large</html>", .unnamed, .notificationTooLarge),
            (
                400,
                #"{"timestamp":"t","status":400,"error":"Bad Request","path":"/push/v1/notifyEncrypted/batch"}"#,
                .unnamed, .messageRefused
            ),
            (400, "", .unnamed, .messageRefused), (400, "{", .unnamed, .messageRefused),
            (422, #"{"error":null}"#, .unnamed, .messageRefused),
        ]
    )
    func `G1 a refusal of the whole is bisected`(
        status: Int,
        body: String,
        kind: Refusal.Kind,
        reason: DeadLetterReason
    ) {
        guard case .refused(let refusal) = read(status, body) else {
            Issue.record("not refused")
            return
        }
        #expect(refusal.status == status)
        #expect(refusal.kind == kind)
        #expect(refusal.reasonWhenAlone == reason)
    }

    @Test func `a proxy that asks for a certificate does not condemn the messages`() {
        let body = "<html><head><title>400 No required SSL certificate was sent</title></head></html>"
        #expect(read(400, body, type: "text/html") == .fault(.credential))
        #expect(read(400, body, type: "application/json") == .refused(Refusal(status: 400, body: [])))
    }

    @Test(
        arguments: [
            ("{}", 0), (#"{"status":"success"}"#, 0), (#"{"rejected":[]}"#, 0), (#"{"rejected":null}"#, 0),
            (#"{"rejected":["own"]}"#, 1), (#"{"rejected":["a","own",3]}"#, 2),
        ]
    )
    func `a single message is taken except for the keys that are rejected`(body: String, count: Int) {
        guard case .taken(let rejected) = read(200, body, to: .concept2024) else {
            Issue.record("not taken")
            return
        }
        #expect(rejected.count == count)
        #expect(rejected.contains(Array("own".utf8)) == (count > 0))
    }

    @Test(arguments: ["", "[]", "<html>", #"{"rejected":["#])
    func `G7 a single success that cannot be read is transient`(body: String) {
        #expect(read(200, body, to: .concept2024) == .transient(.unreadableAnswer, after: nil))
    }

    @Test func `rejected keys do not print`() {
        let answer = read(200, #"{"results":[{"id":"a","status":"failed","rejected":["secret-key"]}]}"#)
        var dumped = ""
        dump(answer, to: &dumped)
        #expect(!dumped.contains("secret-key"))
        #expect(!"\(answer)".contains("secret-key"))
        #expect(!dumped.contains("115"))
    }
}
