import Testing

@testable import Push

struct SpringHeaderTests {
    private func history(detail: String = "status 400") -> FailureHistory {
        var history = FailureHistory()
        history.note(
            .messageRefused,
            detail: detail,
            httpStatus: 400,
            stage: .dispatch,
            at: RecordPlace(
                topic: "push.notifications",
                partition: 3,
                offset: 258,
                timestamp: 1,
                consumerGroup: "push.dispatch"
            ),
            now: Timestamp(milliseconds: 1_700_000_000_000)
        )
        return history
    }

    @Test func `Spring's names have the values that Spring writes`() {
        let headers = history().headers(naming: .spring)
        let own = history().headers()
        #expect(Array(headers.prefix(own.count)) == own)
        let spring = Dictionary(
            uniqueKeysWithValues: headers.dropFirst(own.count).map { ($0.name, $0.value ?? []) }
        )
        #expect(
            spring == [
                "kafka_dlt-original-topic": Array("push.notifications".utf8),
                "kafka_dlt-original-partition": [0, 0, 0, 3],
                "kafka_dlt-original-offset": [0, 0, 0, 0, 0, 0, 1, 2],
                "kafka_dlt-original-timestamp": [0, 0, 0, 0, 0, 0, 0, 1],
                "kafka_dlt-original-consumer-group": Array("push.dispatch".utf8),
                "kafka_dlt-exception-fqcn": Array("posthorn.message_refused".utf8),
                "kafka_dlt-exception-message": Array("status 400".utf8),
            ]
        )
    }

    @Test func `what is not a dead letter has none`() {
        var history = history()
        history.reason = nil
        #expect(history.headers(naming: .spring) == history.headers())
    }

    @Test func `D1 they go before anything of our own`() {
        let history = history(detail: String(repeating: "d", count: 1024))
        let own = history.headers()
        let size = own.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) }
        #expect(history.headers(budget: size, naming: .spring) == own)
        for budget in stride(from: 0, through: 3000, by: 13) {
            let headers = history.headers(budget: budget, naming: .spring)
            #expect(headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) } <= budget)
        }
    }

    @Test func `those of an earlier round are taken out, other names of Spring's stay`() {
        var history = FailureHistory()
        for header in SpringHeader.allCases {
            let isOurs = history.take(header: header.rawValue, [0xff])
            #expect(isOurs)
        }
        let isOurs = history.take(header: "kafka_dlt-exception-stacktrace", [])
        #expect(!isOurs)
        #expect(history == FailureHistory())
    }
}
