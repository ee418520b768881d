/// What a replay does with one letter.
package enum Verdict: Hashable, Sendable {
    /// It is sent again; `isForced` although its time is over.
    case replay(isForced: Bool)
    /// It has been replayed as often as allowed, and is set aside.
    case park
    /// It stays where it is, open, and is counted.
    case refuse(ReplayRefusal)
}

/// Why a letter is not sent again.
package struct ReplayRefusal: Hashable, Sendable {
    package enum Cause: String, Hashable, Sendable, CaseIterable {
        /// The time in which the message makes sense is over.
        case expired
        /// The pusher was deleted or has moved to nobody.
        case pusherGone = "pusher_gone"
        /// It is sealed under a key that the device no longer keeps.
        case keyWindowPassed = "key_window_passed"
        /// The gateway is still not on the operator's list.
        case unknownGateway = "unknown_gateway"
        /// The channel that the event names still does not exist.
        case unknownChannel = "unknown_channel"
        /// The event names no channel, and its type still belongs to none.
        case unknownType = "unknown_type"
        /// The record itself is at fault and would only come back.
        case stillAtFault = "still_at_fault"
        /// It is larger than a record may be.
        case tooLarge = "too_large"
    }

    package var cause: Cause
    /// For people: ids, moments and codes only.
    package var detail: String

    package init(_ cause: Cause, _ detail: String) {
        self.cause = cause
        self.detail = detail
    }
}

extension Verdict: CustomStringConvertible {
    /// A word for tables and JSON.
    package var description: String {
        switch self {
        case .replay(let isForced): isForced ? "force" : "replay"
        case .park: "park"
        case .refuse: "refuse"
        }
    }
}
