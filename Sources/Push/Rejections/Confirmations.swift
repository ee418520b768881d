/// How many rejections in a row a gateway's entry asks for before one counts.
///
/// The interface says one. gematik's own gateway tells any refusal of its provider as a rejection, with the next request for that key and once; the
/// request after that succeeds again. So where an entry asks for two, a message is tried again, a living device gets it, and only a
/// key that is rejected again before two messages in a row went through is dead: the dead one's messages alternate between taken and rejected.
package struct Confirmations: Hashable, Sendable {
    /// How many rejections it takes, from 1.
    package let needed: Int

    package init(_ needed: Int) {
        self.needed = max(needed, 1)
    }

    /// How many messages in a row have to be taken for a pusher until what was said against it is forgotten.
    package var successesToForget: Int { needed > 1 ? 2 : 1 }

    /// What is already held against a pusher.
    package struct Earlier: Hashable, Sendable {
        package var rejections: Int
        package var rejectedAt: Timestamp

        package init(rejections: Int, rejectedAt: Timestamp) {
            self.rejections = rejections
            self.rejectedAt = rejectedAt
        }
    }

    /// How many rejections there are with one of a message that was sent at `sent`.
    ///
    /// One sent before the last rejection was heard of is the same piece of news: the gateway was not asked again.
    package func count(_ earlier: Earlier?, sent: Timestamp) -> Int {
        guard let earlier else { return 1 }
        return sent > earlier.rejectedAt ? earlier.rejections + 1 : earlier.rejections
    }

    /// Whether so many are enough.
    package func isConfirmed(_ count: Int) -> Bool { count >= needed }
}
