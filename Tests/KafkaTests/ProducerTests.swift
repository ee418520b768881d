import Support
import Testing

@testable import Kafka

/// What a producer does without any broker to talk to.
@Suite
struct ProducerTests {
    /// Nobody listens there.
    private let nowhere = Configuration([
        "bootstrap.servers": "127.0.0.1:1", "queue.buffering.max.messages": "10",
        "enable.idempotence": "false",
    ])

    @Test
    func `a full queue is waited for within bounds and then told`() throws {
        var producer = try Producer(nowhere, queueFullTimeout: .milliseconds(200))
        for id in 1...10 as ClosedRange<UInt64> {
            try producer.produce(topic: "t", key: nil, value: [1], id: id)
        }
        let clock = ContinuousClock()
        var error: KafkaError?
        let time = clock.measure {
            error = #expect(throws: KafkaError.self) {
                try producer.produce(topic: "t", key: nil, value: [1], id: 11)
            }
        }
        #expect(error?.isQueueFull == true)
        #expect(error?.isRetriable == true)
        #expect(time >= .milliseconds(200))
        #expect(producer.queueLength == 10)
    }

    @Test
    func `a purge fails every record with its id and makes room`() throws {
        var producer = try Producer(nowhere, queueFullTimeout: .zero)
        for id in 1...10 as ClosedRange<UInt64> {
            try producer.produce(topic: "t", key: nil, value: [1], id: id)
        }
        try producer.purge()
        var deliveries: [Delivery] = []
        try eventually("all are reported") {
            producer.poll(timeout: .milliseconds(20))
            producer.takeDeliveries(into: &deliveries)
            return deliveries.count == 10
        }
        #expect(Set(deliveries.map(\.id)) == Set(1...10))
        for delivery in deliveries {
            guard case .failed(_, let isPossiblyWritten) = delivery.outcome else {
                Issue.record("\(delivery)")
                continue
            }
            #expect(!isPossiblyWritten)
        }
        #expect(producer.failedCount == 10)
        try producer.produce(topic: "t", key: nil, value: [1])
    }

    @Test
    func `reports make room while a produce waits`() throws {
        var producer = try Producer(nowhere.setting("message.timeout.ms", "300"))
        for id in 1...50 as ClosedRange<UInt64> {
            try producer.produce(topic: "t", key: nil, value: [1], id: id)
        }
        #expect(producer.failedCount >= 40)
        #expect(producer.lastFailure?.isTimeout == true)
    }

    @Test
    func `a flush without a broker is bounded`() throws {
        var producer = try Producer(nowhere)
        try producer.produce(topic: "t", key: nil, value: [1])
        let error = #expect(throws: KafkaError.self) { try producer.flush(timeout: .milliseconds(100)) }
        #expect(error?.isTimeout == true)
    }

    @Test
    func `an unreachable broker is told as trouble and logged to the sink`() throws {
        let lines = Lines()
        var producer = try Producer(nowhere.setting("sasl.password", "correct-horse")) { lines.append($0) }
        try producer.produce(topic: "t", key: nil, value: [1])
        var troubles: [KafkaError] = []
        try eventually("both arrive") {
            producer.poll(timeout: .milliseconds(50))
            troubles += producer.takeTroubles()
            return !troubles.isEmpty && !lines.all.isEmpty
        }
        #expect(troubles.allSatisfy { $0.isRetriable && !$0.isFatal })
        #expect(lines.all.allSatisfy { !$0.text.contains("correct-horse") })
    }
}
