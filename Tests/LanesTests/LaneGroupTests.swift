internal import Glibc
import Testing

@testable import Lanes

/// What the kernel calls the calling thread.
private func threadName() -> String {
    let descriptor = unsafe open("/proc/thread-self/comm", O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    var name = [UInt8](repeating: 0, count: 32)
    let count = unsafe name.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    return String(decoding: name.prefix(max(0, count - 1)), as: UTF8.self)
}

struct LaneGroupTests {
    private struct Broken: Error, Equatable {
        let lane: Int
    }

    private typealias Group = LaneGroup<Int, Broken>

    /// What came of lanes, in a form that compares.
    private func summary(_ outcomes: [Group.Outcome]) -> [String] {
        outcomes.map { outcome in
            switch outcome {
            case .finished(let value): "finished \(value)"
            case .failed(let error): "failed \(error.lane)"
            case .unfinished: "unfinished"
            }
        }
    }

    @Test func `each lane is a thread of its own with its name, and what it returns is collected in order`()
        throws
    {
        let statuses = LaneStatus.lanes(named: "encrypt", count: 3)
        let ownThread = pthread_self()
        let group = try LaneGroup<[String], Never>(statuses, policy: .stopOthers, stop: StopFlag()) {
            context in
            ["\(context.index)", threadName(), pthread_self() == ownThread ? "same" : "own"]
        }
        let seen: [[String]] = group.join(within: .seconds(30)).map { outcome in
            if case .finished(let value) = outcome { value } else { [] }
        }
        #expect(seen == (0..<3).map { ["\($0)", "encrypt-\($0)", "own"] })
        #expect(statuses.map(\.phase) == [.finished, .finished, .finished])
    }

    @Test func `lanes run until the flag is raised`() throws {
        let stop = try StopFlag()
        let group = try Group(LaneStatus.lanes(named: "a", count: 2), policy: .stopOthers, stop: stop) {
            context in
            while !context.pause(for: .seconds(600)) {}
            return 1
        }
        #expect(!Readiness.wait(for: group.endDescriptor, until: Monotonic.now()))
        stop.raise()
        #expect(summary(group.join(within: .seconds(30))) == ["finished 1", "finished 1"])
    }

    @Test func `a lane that fails stops the others`() throws {
        let stop = try StopFlag()
        let group = try Group(LaneStatus.lanes(named: "a", count: 3), policy: .stopOthers, stop: stop) {
            (context) throws(Broken) in
            if context.index == 1 { throw Broken(lane: 1) }
            _ = context.pause(for: .seconds(600))
            return 0
        }
        #expect(summary(group.join(within: .seconds(30))) == ["finished 0", "failed 1", "finished 0"])
        #expect(stop.isRaised)
        #expect(group.statuses[1].phase == .failed)
    }

    @Test
    func
        `others go on after a failure when the group says so, and the failed lane is neither alive nor ready`()
        throws
    {
        let stop = try StopFlag()
        let hasFailed = try StopFlag()
        let group = try Group(LaneStatus.lanes(named: "a", count: 2), policy: .goOn, stop: stop) {
            (context) throws(Broken) in
            if context.index == 0 {
                hasFailed.raise()
                throw Broken(lane: 0)
            }
            context.ready()
            _ = context.pause(for: .seconds(600))
            return 0
        }
        #expect(hasFailed.wait(for: .seconds(30)))
        #expect(!stop.isRaised)
        stop.raise()
        #expect(summary(group.join(within: .seconds(30))) == ["failed 0", "finished 0"])
        #expect(!group.statuses[0].isAlive(limit: .seconds(600)))
        #expect(group.statuses[0].condition == .notReady(reason: "failed"))
        #expect(group.statuses[1].isAlive(limit: .zero))
    }

    @Test func `a lane that does not end is reported, and does not hold up the others' results`() throws {
        let stop = try StopFlag()
        let release = try StopFlag()
        let isOver = try StopFlag()
        var group: Group? = try Group(LaneStatus.lanes(named: "a", count: 2), policy: .stopOthers, stop: stop)
        { context in
            if context.index == 1 {
                _ = release.wait(for: .seconds(600))
                isOver.raise()
            }
            return 5
        }
        stop.raise()
        // The first lane has ended for sure once its status says so.
        let first = try #require(group?.statuses[0])
        while first.phase == .running { sched_yield() }
        #expect(group.map { summary($0.join(within: .milliseconds(50))) } == ["finished 5", "unfinished"])
        group = nil
        release.raise()
        #expect(isOver.wait(for: .seconds(30)))
    }

    @Test func `SIGTERM does not interrupt a lane, and who starts it stays as it was`() throws {
        let before = Self.blocksTermination()
        let group = try Group(LaneStatus.lanes(named: "a", count: 1), policy: .stopOthers, stop: StopFlag()) {
            _ in
            Self.blocksTermination() ? 1 : 0
        }
        #expect(Self.blocksTermination() == before)
        #expect(summary(group.join(within: .seconds(30))) == ["finished 1"])
    }

    private static func blocksTermination() -> Bool {
        var mask = sigset_t()
        unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
        return unsafe sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGINT) == 1
    }
}
