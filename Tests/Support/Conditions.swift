internal import Glibc
internal import Synchronization

/// A condition did not come true within its time.
package struct ConditionTimeout: Error, CustomStringConvertible {
    package let description: String
}

/// Waits until `condition` holds, looking again every few milliseconds.
///
/// - Parameters:
///   - what: the condition in words, for the failure's text.
///   - limit: generous, for a slow and shared machine: it bounds a failure, it does not time a success.
///   - condition: looked at again and again; an error ends the wait.
/// - Throws: ``ConditionTimeout`` naming `what` when it never came true.
package func eventually(
    _ what: String,
    within limit: Duration = .seconds(60),
    _ condition: () throws -> Bool
) throws {
    let deadline = ContinuousClock.now + limit
    while true {
        if try condition() { return }
        if ContinuousClock.now >= deadline {
            throw ConditionTimeout(description: "not within \(limit): \(what)")
        }
        usleep(5000)
    }
}

private let counter = Atomic<UInt32>(0)

/// A name that no other test of this run, nor an earlier run on the same server, uses.
package func uniqueName(_ prefix: String) -> String {
    let count = counter.wrappingAdd(1, ordering: .relaxed).newValue
    return "\(prefix)-\(getpid())-\(count)"
}
