import JSON
import Testing

@testable import Push

struct DeadLetterFilterTests {
    private static let letter: DeadLetterFacts = {
        var history = FailureHistory()
        history.reason = .outOfAttempts
        history.attempts = 12
        history.replayID = "r-1"
        var letter = DeadLetterFacts(
            partition: 2,
            offset: 41,
            history: history,
            stage: .dispatch,
            failedAt: Timestamp(milliseconds: 1000)
        )
        letter.gateway = "https://gateway.example"
        letter.app = "com.example.app"
        letter.channel = "news"
        letter.user = "0123456789abcdef"
        letter.event = "event-1"
        return letter
    }()

    private static let matching: [@Sendable (inout DeadLetterFilter) -> Void] = [
        { $0.reasons = [.expired, .outOfAttempts] }, { $0.gateways = ["https://gateway.example", "x"] },
        { $0.apps = ["com.example.app"] }, { $0.channels = ["news"] }, { $0.users = ["0123456789abcdef"] },
        { $0.events = ["event-1"] }, { $0.since = Timestamp(milliseconds: 1000) },
        { $0.until = Timestamp(milliseconds: 1001) }, { $0.attempts = 12...12 }, { $0.partition = 2 },
        { $0.offsets = 41...41 }, { $0.replay = "r-1" },
    ]
    private static let failing: [@Sendable (inout DeadLetterFilter) -> Void] = [
        { $0.reasons = [.expired] }, { $0.gateways = ["https://other.example"] }, { $0.apps = ["other"] },
        { $0.channels = ["other"] }, { $0.users = ["other"] }, { $0.events = ["other"] },
        { $0.since = Timestamp(milliseconds: 1001) }, { $0.until = Timestamp(milliseconds: 1000) },
        { $0.attempts = 0...11 }, { $0.partition = 1 }, { $0.offsets = 42...50 }, { $0.replay = "r-2" },
    ]

    @Test func `nothing asked for takes everything`() {
        #expect(DeadLetterFilter().isEmpty)
        #expect(DeadLetterFilter().matches(Self.letter))
    }

    @Test func `each field alone, and all together, take what they name`() {
        var all = DeadLetterFilter()
        for field in Self.matching {
            var filter = DeadLetterFilter()
            field(&filter)
            #expect(!filter.isEmpty && filter.matches(Self.letter))
            field(&all)
        }
        #expect(all.matches(Self.letter))
    }

    @Test func `one field that does not hold is enough to leave a letter out`() {
        for field in Self.failing {
            var filter = DeadLetterFilter()
            for other in Self.matching { other(&filter) }
            field(&filter)
            #expect(!filter.matches(Self.letter))
        }
    }

    @Test func `a letter of which a field is not known matches no filter for it`() {
        let unknown = DeadLetterFacts(
            partition: 0,
            offset: 0,
            history: FailureHistory(),
            stage: .dispatch,
            failedAt: Timestamp(milliseconds: 0)
        )
        for field in Self.matching[..<6] {
            var filter = DeadLetterFilter()
            field(&filter)
            #expect(!filter.matches(unknown))
        }
    }

    @Test func `only the part of a partition that can match is read`() {
        var filter = DeadLetterFilter()
        #expect(filter.narrow(10..<20, partition: 0) == 10..<20)
        #expect(filter.narrow(10..<10, partition: 0) == nil)
        filter.offsets = 15...(.max)
        #expect(filter.narrow(10..<20, partition: 0) == 15..<20)
        filter.offsets = 0...4
        #expect(filter.narrow(10..<20, partition: 0) == nil)
        filter.offsets = 12...13
        #expect(filter.narrow(10..<20, partition: 0) == 12..<14)
        filter.partition = 1
        #expect(filter.narrow(10..<20, partition: 0) == nil)
    }

    @Test func `it is stored and read as it was, and nothing that is not known is passed over`() throws {
        var filter = DeadLetterFilter()
        for field in Self.matching { field(&filter) }
        for filter in [filter, DeadLetterFilter()] {
            var writer = Writer()
            filter.write(to: &writer)
            let read = try Reader.read(writer.bytes) { reader throws(ReadError) in
                try DeadLetterFilter(&reader)
            }
            #expect(read == filter)
        }
        for text in [
            #"{"reasons":["bad_luck"]}"#, #"{"colour":"red"}"#, #"{"attempts":[3,1]}"#, #"{"since":"soon"}"#,
            "[]",
        ] {
            #expect(throws: ReadError.self) {
                try Reader.read(Array(text.utf8)) { reader throws(ReadError) in try DeadLetterFilter(&reader)
                }
            }
        }
    }
}
