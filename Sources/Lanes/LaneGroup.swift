internal import Synchronization

/// The lanes of a process: each an OS thread that runs the same body and owns everything that the body makes.
///
/// The body makes its consumer, connections and buffers inside its own thread, so nothing of it crosses to another one; what it returns or throws is
/// collected here.
///
///     start ──▶ running ──(flag raised, or a lane failed)──▶ join ──▶ finished | failed | unfinished
package final class LaneGroup<Value: Sendable, Failure: Error>: Sendable {
    /// What a failed lane means to the others.
    package enum Policy: Sendable {
        /// The flag is raised: the process is to end, and to be started again as a whole.
        case stopOthers
        /// The others go on; the failed lane is not alive and not ready.
        case goOn
    }

    package enum Outcome: Sendable {
        case finished(Value)
        case failed(Failure)
        /// Still running when the time to join was over; the thread was let go.
        case unfinished
    }

    package typealias Body = @Sendable (LaneContext) throws(Failure) -> Value

    /// One for each lane, in the order of their indices.
    package let statuses: [LaneStatus]
    private let shared: Shared
    private let threads: Mutex<[Thread]>

    /// Starts as many lanes as there are statuses, which become theirs.
    ///
    /// - Parameters:
    ///   - statuses: From ``LaneStatus/lanes(named:count:)``; threads are named after them.
    ///   - policy: What a failed lane means to the others.
    ///   - stop: Tells them to end.
    ///   - body: Runs from start to end of a lane, and returns soon after the flag is raised.
    /// - Throws: ``LaneError`` when a thread cannot be started; those that were are stopped.
    package init(
        _ statuses: [LaneStatus],
        policy: Policy,
        stop: StopFlag,
        body: @escaping Body
    ) throws(LaneError) {
        precondition(!statuses.isEmpty, "a group has at least one lane")
        let shared = try Shared(count: statuses.count)
        var threads: [Thread] = []
        for status in statuses {
            do throws(LaneError) {
                let thread = try Thread(name: status.name) {
                    Self.run(body, LaneContext(stop: stop, status: status), status, policy, shared)
                }
                threads.append(thread)
            } catch {
                stop.raise()
                for thread in threads { thread.letGo() }
                throw error
            }
        }
        self.statuses = statuses
        self.shared = shared
        self.threads = Mutex(threads)
    }

    deinit {
        threads.withLock { threads in
            for thread in threads { thread.letGo() }
        }
    }

    /// Readable once every lane has ended.
    package var endDescriptor: Int32 { shared.allEnded.descriptor }

    /// Waits until every lane has ended, but no longer than `limit`.
    ///
    /// To be called once; the flag should have been raised before, or the lanes should end by themselves.
    ///
    /// - Parameter limit: How long to wait for all lanes together.
    /// - Returns: What became of each lane, in the order of their indices.
    package func join(within limit: Duration) -> [Outcome] {
        _ = shared.allEnded.wait(until: Monotonic.deadline(after: limit))
        let outcomes = shared.outcomes.withLock { $0 }
        threads.withLock { threads in
            for (thread, outcome) in zip(threads, outcomes) {
                if case .unfinished = outcome { thread.letGo() } else { thread.join() }
            }
            threads = []
        }
        return outcomes
    }

    private static func run(
        _ body: Body,
        _ context: LaneContext,
        _ status: LaneStatus,
        _ policy: Policy,
        _ shared: Shared
    ) {
        do throws(Failure) {
            let value = try body(context)
            status.end(.finished)
            shared.end(of: status.index, as: .finished(value))
        } catch {
            status.end(.failed)
            if policy == .stopOthers { context.stop.raise() }
            shared.end(of: status.index, as: .failed(error))
        }
    }

    /// What outlives the group when a thread does.
    private final class Shared: Sendable {
        let outcomes: Mutex<[Outcome]>
        let allEnded: Event
        private let running: Atomic<Int>

        init(count: Int) throws(LaneError) {
            outcomes = Mutex(Array(repeating: .unfinished, count: count))
            running = Atomic(count)
            allEnded = try Event()
        }

        func end(of index: Int, as outcome: Outcome) {
            outcomes.withLock { $0[index] = outcome }
            if running.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { allEnded.signal() }
        }
    }
}
