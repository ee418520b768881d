import Kafka
import Support

/// A record as any producer might write it, well-formed or not.
struct RawRecord {
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: [Header] = []
    /// Nil lets the key decide.
    var partition: Int32?

    init(key: [UInt8]?, value: [UInt8]?, _ headers: [Header] = []) {
        self.key = key
        self.value = value
        self.headers = headers
    }

    /// A trigger event in binary mode.
    init(_ event: TestEvent, partition: Int32? = nil) {
        self.init(
            key: Array(event.user.utf8),
            value: Array(event.content.utf8),
            [
                Header("ce_specversion", text: "1.0"), Header("ce_id", text: event.id),
                Header("ce_source", text: TestEvent.source), Header("ce_type", text: "example.news"),
                Header("ce_subject", text: event.user),
            ]
        )
        self.partition = partition
    }

    /// A record as it was read, to be written again with something changed.
    init(_ record: Record) {
        self.init(key: record.key, value: record.value, Array(record.headers))
    }

    func with(value: [UInt8]?) -> RawRecord {
        var record = self
        record.value = value
        return record
    }

    func with(key: [UInt8]?) -> RawRecord {
        var record = self
        record.key = key
        return record
    }

    func without(_ name: String) -> RawRecord {
        var record = self
        record.headers.removeAll { $0.name == name }
        return record
    }

    /// With another header of that name, beside those that are there.
    func adding(_ name: String, _ value: [UInt8]?) -> RawRecord {
        var record = self
        record.headers.append(Header(name, value))
        return record
    }

    /// With this header in the place of all of that name.
    func with(_ name: String, _ value: [UInt8]?) -> RawRecord { without(name).adding(name, value) }

    func with(_ name: String, _ text: String) -> RawRecord { with(name, Array(text.utf8)) }
}

extension Installation {
    /// Writes records to a topic, in order, and returns when the broker has them all.
    ///
    /// - Throws: ``UnexpectedEnd`` when the broker does not take one.
    func write(_ records: [RawRecord], to topic: String) throws {
        let configuration = Kafka.Configuration([
            "bootstrap.servers": environment["POSTHORN_KAFKA_BOOTSTRAP_SERVERS"] ?? "",
            "message.max.bytes": "2000000",
        ])
        var producer = try Producer(configuration)
        var deliveries: [Delivery] = []
        for (index, record) in records.enumerated() {
            try producer.produce(
                topic: topic,
                partition: record.partition,
                key: record.key,
                value: record.value,
                headers: Headers(record.headers),
                id: UInt64(index) + 1
            )
        }
        try producer.flush(timeout: .seconds(60))
        producer.takeDeliveries(into: &deliveries)
        for delivery in deliveries {
            if case .failed(let error, _) = delivery.outcome {
                throw UnexpectedEnd(description: "record \(delivery.id) of \(topic): \(error)")
            }
        }
        guard deliveries.count == records.count else {
            throw UnexpectedEnd(description: "\(deliveries.count) of \(records.count) records on \(topic)")
        }
    }
}
