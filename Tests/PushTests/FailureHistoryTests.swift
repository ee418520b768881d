import Testing

@testable import Push

struct FailureHistoryTests {
    private static let now = Timestamp(milliseconds: 1_700_000_000_000)
    private static let place = RecordPlace(
        topic: "push.notifications",
        partition: 3,
        offset: 41,
        timestamp: 1_699_999_999_999,
        consumerGroup: "push.dispatch"
    )

    private func carried(_ history: FailureHistory) -> FailureHistory {
        var next = FailureHistory()
        for header in history.headers() {
            let isOurs = next.take(header: header.name, header.value)
            #expect(isOurs)
        }
        return next
    }

    private func size(_ headers: [RecordHeader]) -> Int {
        headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) }
    }

    @Test func `a history comes out of its headers as it went in`() {
        var history = FailureHistory()
        history.attempts = 4
        history.replayCount = 1
        history.replayID = "r-1"
        history.note(
            .messageRefused,
            detail: "status 400",
            httpStatus: 400,
            stage: .dispatch,
            at: Self.place,
            now: Self.now
        )
        #expect(carried(history) == history)
        #expect(history.headers().map(\.name).count == Set(history.headers().map(\.name)).count)
        #expect(history.headers().contains(RecordHeader("x-dlq-reason", "message_refused")))
        #expect(history.headers().contains(RecordHeader("x-original-offset", "41")))
        #expect(FailureHistory().headers().isEmpty)
    }

    @Test func `D1 fifty cycles keep the first failure and do not grow`() {
        var history = FailureHistory()
        var sizes: [Int] = []
        for cycle in 0..<50 {
            var place = Self.place
            place.offset = Int64(100 + cycle)
            history.attempts += 1
            history.note(
                .outOfAttempts,
                detail: String(repeating: "ü", count: 2000),
                httpStatus: 503,
                stage: .dispatch,
                at: place,
                now: Self.now.adding(.seconds(cycle))
            )
            history = carried(history)
            sizes.append(size(history.headers()))
        }
        #expect(history.origin?.offset == 100)
        #expect(history.firstFailedAt == Self.now)
        #expect(history.lastFailedAt == Self.now.adding(.seconds(49)))
        #expect(history.attempts == 50)
        #expect(sizes.allSatisfy { $0 < 2048 })
        #expect(history.detail.utf8.count == 1024)
    }

    @Test func `D1 context is cut before the reason goes`() {
        var history = FailureHistory()
        history.note(
            .expired,
            detail: String(repeating: "d", count: 1024),
            stage: .dispatch,
            at: Self.place,
            now: Self.now
        )
        let whole = history.headers()
        for budget in stride(from: 0, through: 2000, by: 7) {
            let headers = history.headers(budget: budget)
            #expect(size(headers) <= budget)
            if budget >= "x-dlq-reasonexpired".utf8.count {
                #expect(headers.contains { $0.name == "x-dlq-reason" })
            }
        }
        #expect(history.headers(budget: size(whole)) == whole)
        let cut = history.headers(budget: size(whole) - 1)
        #expect(cut.count == whole.count)
        #expect(cut.first { $0.name == "x-dlq-detail" }?.value?.count == 1023)
    }

    @Test func `K2 headers that somebody else wrote do no harm`() {
        var history = FailureHistory()
        let values: [[UInt8]?] = [
            nil, [0xFF, 0xFE], Array("99999999999999999999".utf8), [UInt8](repeating: 0x61, count: 5000),
        ]
        for name in FailureHeader.allCases.map(\.rawValue) {
            let taken = values.map { history.take(header: name, $0) }
            #expect(taken.allSatisfy { $0 })
        }
        let others = ["x-other", "ce_id", "", "x-"].map { history.take(header: $0, nil) }
        #expect(others.allSatisfy { !$0 })
        #expect(history.reason == nil)
        #expect(history.httpStatus == nil)
        #expect(history.attempts == 0)
    }

    @Test func `text is never cut inside a character`() {
        #expect(TextRules.prefix("aü", bytes: 2) == "a")
        #expect(TextRules.prefix("aü", bytes: 3) == "aü")
        #expect(TextRules.prefix("🙂", bytes: 3).isEmpty)
        #expect(TextRules.prefix("abc", bytes: 0).isEmpty)
        #expect(TextRules.prefix("abc", bytes: -5).isEmpty)
    }

    @Test func `reasons are words that stay`() {
        #expect(
            DeadLetterReason.allCases.map(\.rawValue) == [
                "tombstone", "malformed", "missing_attribute", "invalid_attribute", "content_too_large",
                "unknown_type",
                "unknown_channel",
                "key_chain_unusable", "malformed_notification", "notification_too_large", "unknown_gateway",
                "message_refused",
                "expired", "out_of_attempts", "key_window_passed",
            ]
        )
    }
}
