internal import Synchronization

/// The right to answer one request, once, from any thread and at any time.
///
/// The first answer counts. A responder that is let go without an answer answers ``Refusal/handlerFailed``: a request is never forgotten.
package final class Responder: Sendable {
    private let connection: Connection
    private let sequence: UInt64
    private let core: Core
    private let isAnswered = Atomic(false)

    init(connection: Connection, sequence: UInt64, core: Core) {
        self.connection = connection
        self.sequence = sequence
        self.core = core
    }

    deinit {
        guard !isAnswered.load(ordering: .relaxed) else { return }
        connection.answer(.response(core.configuration.refuse(.handlerFailed)), to: sequence)
    }

    package func answer(_ response: Response) {
        give(.response(response))
    }

    /// Answers later, without holding a thread until then.
    package func answer(_ response: Response, after delay: Duration) {
        core.timekeeper.schedule(after: delay) { self.answer(response) }
    }

    /// Does something later on the server's timekeeping thread, which is everybody's: it must be quick.
    package func schedule(after delay: Duration, _ action: @escaping @Sendable (Responder) -> Void) {
        core.timekeeper.schedule(after: delay) { action(self) }
    }

    /// Ends the connection without an answer, as a server does that breaks down.
    package func close() {
        give(.close)
    }

    private func give(_ answer: ConnectionProgress.Answer) {
        guard !isAnswered.exchange(true, ordering: .relaxed) else { return }
        connection.answer(answer, to: sequence)
    }
}
