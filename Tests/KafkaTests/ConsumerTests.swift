import Glibc
import Support
import Testing

@testable import Kafka

@Suite(.needsKafka)
struct ConsumerTests {
    private func filled(_ count: Int) throws -> TopicPartition {
        let topic = try Local.topic()
        var producer = try Local.producer()
        for index in 0..<count {
            try producer.produce(topic: topic, key: nil, value: Local.bytes("\(index)"))
        }
        try producer.flush(timeout: Local.patience)
        return TopicPartition(topic, 0)
    }

    @Test
    func `a paused partition gives nothing and goes on where it was`() throws {
        let place = try filled(100)
        var consumer = try Local.consumer()
        try consumer.assign([TopicPartitionOffset(place, offset: TopicPartitionOffset.beginning)])
        var records: [Record] = []
        try eventually("ten records") {
            _ = try consumer.poll(into: &records, limit: 10 - records.count, wait: .milliseconds(100))
            return records.count == 10
        }
        try consumer.pause([place])
        _ = try consumer.poll(into: &records, limit: 100, wait: .milliseconds(300))
        #expect(records.count == 10)
        #expect(try consumer.position([place]) == [place: 10])
        try consumer.resume([place])
        records += try consumer.read(90)
        #expect(records.map(\.offset) == Array(0..<100))
    }

    @Test
    func `a seek moves back and forth, also while paused`() throws {
        let place = try filled(50)
        var consumer = try Local.consumer()
        try consumer.assign([TopicPartitionOffset(place, offset: 20)])
        #expect(try consumer.read(30).map(\.offset) == Array(20..<50))
        try consumer.seek(to: [TopicPartitionOffset(place, offset: 45)], timeout: Local.patience)
        try consumer.pause([place])
        try consumer.resume([place])
        #expect(try consumer.read(5).map(\.offset) == Array(45..<50))
        try consumer.seek(
            to: [TopicPartitionOffset(place, offset: TopicPartitionOffset.beginning)],
            timeout: Local.patience
        )
        #expect(try consumer.read(50).map(\.offset) == Array(0..<50))
    }

    @Test
    func `a seek waits as long as it is told to`() throws {
        let place = try filled(5)
        var consumer = try Local.consumer()
        try consumer.assign([TopicPartitionOffset(place, offset: 0)])
        #expect(try consumer.read(5).count == 5)
        // A tenth of a second is plenty for a word between two threads; a thousandth of it is not, some of so many times.
        for round in 0..<300 {
            try consumer.seek(
                to: [TopicPartitionOffset(place, offset: Int64(round % 5))],
                timeout: .milliseconds(100)
            )
        }
        #expect(try consumer.read(1).map(\.offset) == [4])
    }

    @Test
    func `watermarks, position and lag tell where things are`() throws {
        let place = try filled(30)
        var consumer = try Local.consumer()
        #expect(consumer.cachedWatermarks(place) == nil)
        #expect(try consumer.watermarks(place, timeout: Local.patience) == Watermarks(low: 0, high: 30))
        try consumer.assign([TopicPartitionOffset(place, offset: 0)])
        var records: [Record] = []
        try eventually("twelve records") {
            _ = try consumer.poll(into: &records, limit: 12 - records.count, wait: .milliseconds(100))
            return records.count == 12
        }
        #expect(consumer.cachedWatermarks(place)?.high == 30)
        #expect(try consumer.lag([place]) == [place: 18])
    }

    @Test
    func `committed offsets are the group's and outlive the member`() throws {
        let (place, group) = (try filled(5), uniqueName("group"))
        do {
            let consumer = try Local.consumer(group: group)
            try consumer.assign([TopicPartitionOffset(place, offset: 0)])
            #expect(try consumer.committed([place], timeout: Local.patience) == [:])
            try consumer.commit([TopicPartitionOffset(place, offset: 3)], timeout: Local.patience)
            try consumer.commit([], timeout: Local.patience)
        }
        var consumer = try Local.consumer(group: group)
        #expect(try consumer.committed([place], timeout: Local.patience) == [place: 3])
        try consumer.assign([TopicPartitionOffset(place, offset: TopicPartitionOffset.committed)])
        #expect(try consumer.read(2).map(\.offset) == [3, 4])
    }

    @Test
    func `a subscription to a topic that is not there is told and not fatal`() throws {
        var consumer = try Local.consumer()
        try consumer.subscribe([uniqueName("nowhere")])
        var (records, events): ([Record], [ConsumerEvent]) = ([], [])
        try eventually("an event tells of it") {
            events += try consumer.turn(into: &records)
            return !events.isEmpty
        }
        let isUnknownTopic = events.contains {
            if case .failed(let error, _) = $0 { error.isUnknownTopic } else { false }
        }
        #expect(isUnknownTopic, "\(events)")
    }

    @Test
    func `a descriptor wakes a waiting lane when a record comes`() throws {
        let place = try filled(1)
        var consumer = try Local.consumer()
        var producer = try Local.producer()
        let pipe = try Pipe()
        consumer.wake(pipe.output)
        try consumer.assign([TopicPartitionOffset(place, offset: 0)])
        #expect(try consumer.read(1).count == 1)
        // Empty the queue and the pipe, then wait in poll(2) with nobody polling Kafka.
        var records: [Record] = []
        _ = try consumer.poll(into: &records, limit: 10, wait: .zero)
        pipe.drain()
        let isQuiet = !pipe.isReadable(within: .zero)
        #expect(isQuiet)
        try producer.produce(topic: place.topic, key: nil, value: [9])
        try producer.flush(timeout: Local.patience)
        let isWoken = pipe.isReadable(within: Local.patience)
        #expect(isWoken)
        let written = pipe.drain()
        #expect(written == [1, 0, 0, 0, 0, 0, 0, 0])
        #expect(try consumer.read(1).map(\.value) == [[9]])
    }

    @Test
    func `a full batch comes without waiting, a part of one after the linger`() throws {
        let place = try filled(20)
        var consumer = try Local.consumer()
        try consumer.assign([TopicPartitionOffset(place, offset: 0)])
        var records: [Record] = []
        let clock = ContinuousClock()
        let first = try clock.measure {
            _ = try consumer.poll(into: &records, limit: 20, wait: Local.patience, linger: Local.patience)
        }
        #expect(records.count == 20)
        #expect(first < .seconds(50))
        try consumer.seek(to: [TopicPartitionOffset(place, offset: 10)], timeout: Local.patience)
        let second = try clock.measure {
            _ = try consumer.poll(into: &records, limit: 20, wait: Local.patience, linger: .milliseconds(200))
        }
        #expect(records.count == 30)
        #expect(second < .seconds(50))
    }
}

/// A pipe in an eventfd's place: what is written stays to be seen.
private struct Pipe: ~Copyable {
    let input: Int32
    let output: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard unsafe Glibc.pipe(&ends) == 0 else { throw Unexpected("no pipe") }
        for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        (input, output) = (ends[0], ends[1])
    }

    deinit {
        Glibc.close(input)
        Glibc.close(output)
    }

    func isReadable(within timeout: Duration) -> Bool {
        var entry = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
        return unsafe Glibc.poll(&entry, 1, timeout.milliseconds) == 1
    }

    @discardableResult
    func drain() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe Glibc.read(input, &bytes, bytes.count)
        return Array(bytes.prefix(max(count, 0)))
    }
}
