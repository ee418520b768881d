import Testing

@testable import Push

struct OffsetTrackerTests {
    @Test
    func `the committable offset is one after the longest ended prefix`() {
        var tracker = OffsetTracker(limit: 10)
        let positions = register([7, 8, 9, 12, 13], &tracker)
        #expect(tracker.committable == nil)
        tracker.acknowledge(positions[1])
        #expect(tracker.committable == nil)
        tracker.acknowledge(positions[0])
        #expect(tracker.committable == 9)
        tracker.acknowledge(positions[3])
        #expect(tracker.committable == 9)
        tracker.acknowledge(positions[2])
        #expect(tracker.committable == 13)
        tracker.acknowledge(positions[4])
        #expect(tracker.committable == 14)
        #expect(tracker.count == 0)
    }

    @Test(arguments: [[5, 5], [5, 4], [5, 0], [-1], [Int64.max], [Int64.min], [1 << 62]])
    func `offsets that do not rise or make no sense are refused`(offsets: [Int64]) {
        var tracker = OffsetTracker(limit: 10)
        var last: OffsetTracker.Position? = 0
        for offset in offsets { last = tracker.register(offset) }
        #expect(last == nil)
    }

    @Test
    func `acknowledging twice or something unknown changes nothing`() {
        var tracker = OffsetTracker(limit: 10)
        let positions = register([0, 1], &tracker)
        let (first, second) = (positions[0], positions[1])
        let moved = [first, first, second + 1, .max].map { tracker.acknowledge($0) }
        #expect(moved == [true, false, false, false])
        #expect(tracker.committable == 1)
        #expect(tracker.count == 1)
    }

    @Test
    func `a full window is told and has room again at half`() {
        var tracker = OffsetTracker(limit: 4)
        let positions = register([0, 1, 2, 3], &tracker)
        #expect(tracker.isFull)
        for position in positions.dropFirst() { tracker.acknowledge(position) }
        #expect(tracker.isFull)
        tracker.acknowledge(positions[0])
        #expect(tracker.hasRoomAgain)
        #expect(!tracker.isFull)
    }

    @Test
    func `every order of acknowledging six offsets gives the prefix`() {
        permute([0, 1, 2, 3, 4, 5]) { order in
            var tracker = OffsetTracker(limit: 10)
            let offsets: [Int64] = [3, 4, 7, 8, 20, 21]
            let positions = register(offsets, &tracker)
            var ended: Set<Int> = []
            for index in order {
                tracker.acknowledge(positions[index])
                ended.insert(index)
                let prefix = offsets.indices.prefix(while: { ended.contains($0) }).count
                #expect(tracker.committable == (prefix == 0 ? nil : offsets[prefix - 1] + 1))
            }
        }
    }

    @Test(arguments: 0..<20)
    func `random registering and acknowledging agrees with a plain model`(seed: UInt64) {
        var random = Jitter(seed: seed)
        var tracker = OffsetTracker(limit: 1000)
        var model: [(offset: Int64, position: OffsetTracker.Position, ended: Bool)] = []
        var offset: Int64 = 0
        var last: Int64 = 0
        for _ in 0..<5000 {
            if Int.random(in: 0..<100, using: &random) < 48 || model.isEmpty {
                offset += Int64.random(in: 1...3, using: &random)
                model.append((offset, register([offset], &tracker)[0], false))
            } else {
                let index = Int.random(in: 0..<model.count, using: &random)
                model[index].ended = true
                tracker.acknowledge(model[index].position)
                while let first = model.first, first.ended {
                    last = first.offset + 1
                    model.removeFirst()
                }
            }
            guard tracker.count == model.count, tracker.committable ?? 0 == last else {
                Issue.record(
                    "window \(tracker.count) of \(model.count), \(tracker.committable ?? 0) of \(last)"
                )
                return
            }
        }
    }

    private func register(_ offsets: [Int64], _ tracker: inout OffsetTracker) -> [OffsetTracker.Position] {
        offsets.compactMap { tracker.register($0) }
    }

    private func permute(_ items: [Int], _ prefix: [Int] = [], _ body: ([Int]) -> Void) {
        if items.isEmpty { return body(prefix) }
        for (index, item) in items.enumerated() {
            var rest = items
            rest.remove(at: index)
            permute(rest, prefix + [item], body)
        }
    }
}
