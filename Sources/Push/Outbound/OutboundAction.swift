/// What the lane is asked to do.
///
/// Taken one by one from ``OutboundEngine/nextAction(now:)``.
package enum OutboundAction: Hashable, Sendable {
    /// Send it, and call ``OutboundEngine/complete(_:_:now:)`` with how it ended, whatever happens.
    case send(OutboundBatch)
    /// Give up the request, and call ``OutboundEngine/complete(_:_:now:)`` with ``TransientCause/recalled``; it may have ended meanwhile.
    case recall(BatchID)
    /// Write it to the dead letters and confirm, or say that it failed.
    case deadLetter(Ticket, DeadLetter)
    /// Write it to the retry topic of the step and confirm, or say that it failed.
    case handOver(Ticket, HandOver)
    /// The pushkey is said to be dead: delete the pusher under the rules for deletions and confirm; or, if the rules want
    /// another attempt first, call ``OutboundEngine/attemptAgain(_:now:)``.
    case reject(Ticket)
    /// Stop reading the partition; go on polling.
    case pause(Partition)
    /// Read the partition again.
    case resume(Partition)
    /// Nothing leaves to this destination for a while.
    case alarm(Destination, Breaker.Reason)
    /// A destination is back.
    case recovered(Destination)
}
