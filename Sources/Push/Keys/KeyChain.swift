/// The keys that a receiver keeps: the newest generation and, where it had one, the one before.
///
/// A message sealed seconds before midnight on the last of a month arrives in the next one, hence two. The newest
/// always stays, however old. A receiver must not let an unproven month move its chain: derive with
/// ``advanced(to:limit:using:)``, open the message, and only then keep the result.
///
/// Source: A_27180 (gemF_PushNotification), and what both official apps do.
package struct KeyChain: ~Copyable {
    package private(set) var newest: KeyGeneration
    private var previous: KeyGeneration?

    package init(newest: consuming KeyGeneration, previous: consuming KeyGeneration? = nil) {
        self.newest = newest
        self.previous = previous
    }

    /// The month of the newest keys.
    package var month: Month { newest.month }

    /// The months whose keys are here, oldest first.
    package var months: [Month] {
        switch previous {
        case .some(let generation): [generation.month, newest.month]
        case .none: [newest.month]
        }
    }

    /// Lends the AES-256-GCM key of `month`, 32 bytes.
    ///
    /// - Returns: nil if that month's key is not here: too old, or not yet derived.
    package func withKey<R, E: Error>(of month: Month, _ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R? {
        if newest.month == month { return try newest.withKey(body) }
        switch previous {
        case .some(let generation): return generation.month == month ? try generation.withKey(body) : nil
        case .none: return nil
        }
    }

    /// This chain moved forward to `target`, this one staying as it is.
    ///
    /// - Returns: a chain with the keys of `target` and of the month before it; an equal chain if this one is already
    ///   there or ahead.
    /// - Throws: ``KeyChainError``, see ``KeyGeneration/advance(to:limit:using:)``.
    package func advanced(
        to target: Month,
        limit: Int = KeyGeneration.defaultStepLimit,
        using deriver: inout (some KeyDeriving & ~Copyable)
    ) throws(KeyChainError) -> KeyChain {
        guard target > month else { return copy() }
        var newer = newest.copy()
        try newer.advance(to: target - 1, limit: limit - 1, using: &deriver)
        let before = newer.copy()
        try newer.advance(to: target, limit: limit, using: &deriver)
        return KeyChain(newest: newer, previous: before)
    }

    /// A second one with the same keys.
    package func copy() -> KeyChain {
        switch previous {
        case .some(let generation): KeyChain(newest: newest.copy(), previous: generation.copy())
        case .none: KeyChain(newest: newest.copy())
        }
    }
}
