internal import EncryptWorker
internal import Kafka
internal import Lanes
internal import Postgres
internal import Push

/// The baseline of the encrypt lane: the same events in, as many records of the same size out, with the same consumer, producer and
/// transactions, but nothing looked up and nothing sealed.
struct CopyBenchmark: ~Copyable {
    private let settings: EncryptSettings
    private let population: Population
    private let total: Int
    private var consumer: Consumer
    private var producer: Producer
    private let outputs: [PrebuiltRecord]
    private var nextOutput = 0
    private var copied = 0

    static func group(_ population: Population) -> String { "\(population.rawValue).copy" }

    static func measure(_ assignment: Assignment) throws -> Measurement {
        var copy = try CopyBenchmark(assignment)
        return try copy.run()
    }

    private init(_ assignment: Assignment) throws {
        let settings = try EncryptBenchmark.settings(assignment)
        let population = assignment.name.population
        let group = Self.group(population)
        let consumer = try Consumer(settings.consumer().setting("group.id", group))
        let producer = try Producer(settings.producer(lane: 0).setting("transactional.id", group))
        self.settings = settings
        self.population = population
        self.consumer = consumer
        self.producer = producer
        total = assignment.events * population.pushersPerUser
        outputs = PrebuiltRecord.all(for: population)
    }

    private mutating func run() throws -> Measurement {
        try producer.initTransactions(timeout: .seconds(30))
        try consumer.subscribe([settings.topics.triggers])
        var records: [Record] = []
        var meter: Meter?
        var deadline = Monotonic.deadline(after: .seconds(60))
        while true {
            records.removeAll(keepingCapacity: true)
            _ = try consumer.poll(
                into: &records,
                limit: settings.batchLimit,
                wait: .milliseconds(100),
                linger: settings.linger
            )
            guard Monotonic.now() < deadline else { throw BenchmarkError.stuck("copy") }
            guard !records.isEmpty else { continue }
            try copy(records)
            deadline = Monotonic.deadline(after: .seconds(60))
            if let meter, copied >= total { return Measurement(meter.stop(at: copied)) }
            if meter == nil { meter = Meter(from: copied) }
        }
    }

    /// One turn: a transaction with the copies and the consumed offsets.
    private mutating func copy(_ records: [Record]) throws {
        try producer.beginTransaction()
        var next: [TopicPartition: Int64] = [:]
        for record in records {
            for _ in 0..<population.pushersPerUser { try produce() }
            next[record.place] = record.offset + 1
        }
        let offsets = next.map { TopicPartitionOffset($0.key, offset: $0.value) }
        let group = try consumer.groupMetadata()
        try producer.sendOffsets(offsets, group: group, timeout: .seconds(30))
        try producer.commitTransaction(timeout: .seconds(30))
        copied += records.count * population.pushersPerUser
    }

    private mutating func produce() throws {
        try producer.produce(
            topic: population.copies,
            key: outputs[nextOutput].key,
            value: outputs[nextOutput].value,
            headers: outputs[nextOutput].headers
        )
        nextOutput = (nextOutput + 1) % outputs.count
    }
}
