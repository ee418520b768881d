import Testing

@testable import HTTPServer

struct ConnectionProgressTests {
    private let limits = Server.Limits(
        bodyBytes: 10,
        headerTime: .seconds(10),
        bodyTime: .seconds(30),
        answerTime: .seconds(40),
        idleTime: .seconds(60)
    )
    private let start = ContinuousClock.now

    private func progress(_ steps: (inout ConnectionProgress) -> Void = { _ in }) -> ConnectionProgress {
        var progress = ConnectionProgress(limits: limits, at: start)
        steps(&progress)
        return progress
    }

    private let head = RequestHead(
        method: .init(text: "POST", offset: 0, count: 4),
        target: .init(text: "/", offset: 5, count: 1),
        version: .init(text: "HTTP/1.1", offset: 7, count: 8),
        headers: [],
        size: 19
    )

    @Test func `each stage has a deadline of its own, the handler has none`() {
        var progress = progress()
        #expect(progress.deadline == start + .seconds(10))
        progress.began(target: "/", address: 1, at: start + .seconds(2))
        #expect(progress.deadline == start + .seconds(10))
        progress.accepted(head, at: start + .seconds(3))
        #expect(progress.deadline == start + .seconds(33))
        _ = progress.completed()
        #expect(progress.deadline == nil)
        progress.sending(at: start + .seconds(100))
        #expect(progress.deadline == start + .seconds(140))
        progress.finished(at: start + .seconds(101))
        #expect(progress.deadline == start + .seconds(161))
        progress.began(target: "/", address: 1, at: start + .seconds(110))
        #expect(progress.deadline == start + .seconds(120))
    }

    @Test func `a slow answer has its own time on top, and pauses until its connection is given up`() {
        var progress = progress()
        var turns = [progress.pause()]
        progress.sending(at: start, extra: .seconds(100))
        #expect(progress.deadline == start + .seconds(140))
        turns += [progress.goOn(), progress.pause()]
        #expect(progress.stage == .pausing)
        turns.append(progress.goOn())
        #expect(progress.stage == .answering)
        progress.giveUp()
        turns.append(progress.pause())
        #expect(turns == [false, false, true, true, false])
    }

    @Test func `bytes do not move a deadline`() {
        let progress = progress {
            $0.began(target: "/", address: 1, at: start)
            $0.accepted(head, at: start)
            for _ in 1...5 { $0.append("x") }
        }
        #expect(progress.isOverdue(at: start + .seconds(30)))
        #expect(!progress.isOverdue(at: start + .seconds(29)))
    }

    @Test func `a body over the limit is not kept`() {
        var progress = progress {
            $0.accepted(head, at: start)
            $0.append("0123456789")
        }
        #expect(progress.excess == 0)
        progress.append("ab")
        progress.append("cde")
        #expect(progress.excess == 5)
        #expect(progress.refusal == .bodyTooLarge(limit: 10))
        let outcome1 = progress.completed()
        #expect(outcome1.isEmpty)
    }

    @Test func `an answer before the handler returns is sent at once`() {
        var progress = progress {
            $0.began(target: "/", address: 1, at: start)
            _ = $0.completed()
        }
        let answer = ConnectionProgress.Answer.response(.text(200, "ok"))
        let outcome2 = progress.answer(answer, to: 1)
        #expect(!outcome2)
        let outcome3 = progress.returned()
        #expect(outcome3 == answer)
    }

    @Test func `a later answer takes the connection up again, once`() {
        var progress = progress {
            $0.began(target: "/", address: 1, at: start)
            _ = $0.completed()
        }
        let outcome4 = progress.returned()
        #expect(outcome4 == nil)
        #expect(progress.stage == .suspended)
        let outcome5 = progress.answer(.close, to: 1)
        #expect(outcome5)
        let outcome6 = progress.answer(.response(.text(200, "late")), to: 1)
        #expect(!outcome6)
        #expect(progress.stage == .ready(.close))
    }

    @Test func `an answer to an earlier request goes nowhere`() {
        var progress = progress {
            $0.began(target: "/", address: 1, at: start)
            _ = $0.completed()
            $0.finished(at: start)
            $0.began(target: "/", address: 1, at: start)
            _ = $0.completed()
        }
        let outcome7 = progress.answer(.close, to: 1)
        #expect(!outcome7)
        #expect(progress.stage == .handling)
    }
}

extension ConnectionProgress {
    mutating func append(_ text: String) {
        let bytes = Array(text.utf8)
        unsafe bytes.withUnsafeBytes { unsafe append($0) }
    }
}
