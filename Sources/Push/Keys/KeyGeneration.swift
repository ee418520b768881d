/// One month's keys of one pusher: shared secret and AES-256-GCM key.
///
/// ```
///   initial secret ──info = its month──▶ secret | key ──info = next month──▶ secret | key ──▶ …
/// ```
///
/// Moves forward only, a month at a step, and the same steps always give the same keys: a crash in between repeats
/// them. Both buffers are allocated once and wiped at the end; a lane keeps one generation and loads every pusher's
/// chain into it with ``load(month:filling:)``, so that the hot path allocates nothing.
package struct KeyGeneration: ~Copyable {
    /// Bytes of a shared secret or a key.
    package static let partLength = 32

    /// Ten years of steps: no device sleeps longer, and a chain that is asked to do more has met a broken clock.
    package static let defaultStepLimit = 120

    /// The month that these keys are for.
    package private(set) var month: Month

    /// secret ‖ key.
    private var material = WipedBytes<64>()
    private var next = WipedBytes<64>()

    /// Stored keys.
    ///
    /// - Parameters:
    ///   - month: the month that they are for.
    ///   - filling: writes the 64 bytes secret ‖ key.
    /// - Throws: what `filling` throws.
    package init<E: Error>(month: Month, filling: (inout MutableSpan<UInt8>) throws(E) -> Void) throws(E) {
        self.month = month
        try material.withMutableBytes(filling)
    }

    /// The first generation: derived from the initial secret, for the month in which that was made (not the one
    /// after).
    package init(
        initialSecret: InitialSecret,
        month: Month,
        using deriver: inout (some KeyDeriving & ~Copyable)
    ) throws(KeyChainError) {
        self.month = month
        let info = month.ascii
        try initialSecret.withBytes { secret throws(KeyChainError) in
            try material.withMutableBytes { output throws(KeyChainError) in
                try deriver.derive(secret: secret, info: info.span, into: &output)
            }
        }
    }

    /// Replaces these keys by stored ones, in the same memory.
    ///
    /// - Parameters:
    ///   - month: the month that they are for.
    ///   - filling: writes the 64 bytes secret ‖ key.
    /// - Throws: what `filling` throws; these keys are zeros then.
    package mutating func load<E: Error>(
        month: Month,
        filling: (inout MutableSpan<UInt8>) throws(E) -> Void
    ) throws(E) {
        self.month = month
        do {
            try material.withMutableBytes(filling)
        } catch {
            material.wipe()
            throw error
        }
    }

    /// Moves forward to `target`; stays where it is if it is already there or ahead, since a chain never moves back.
    ///
    /// - Parameters:
    ///   - target: the month to reach.
    ///   - limit: the most steps allowed, default ``defaultStepLimit``.
    ///   - deriver: derives the keys.
    /// - Returns: the number of steps made, 0 if none was needed.
    /// - Throws: ``KeyChainError/tooFarAhead(from:to:limit:)`` before the first step;
    ///   ``KeyChainError/derivationFailed`` with every finished step kept.
    @discardableResult
    package mutating func advance(
        to target: Month,
        limit: Int = defaultStepLimit,
        using deriver: inout (some KeyDeriving & ~Copyable)
    ) throws(KeyChainError) -> Int {
        let steps = target - month
        guard steps > 0 else { return 0 }
        guard steps <= limit else { throw .tooFarAhead(from: month, to: target, limit: limit) }
        for _ in 0..<steps { try step(using: &deriver) }
        return steps
    }

    /// Moves forward by one month and wipes the keys left behind.
    mutating func step(using deriver: inout (some KeyDeriving & ~Copyable)) throws(KeyChainError) {
        let following = month + 1
        let info = following.ascii
        try material.withBytes { current throws(KeyChainError) in
            try next.withMutableBytes { output throws(KeyChainError) in
                try deriver.derive(
                    secret: current.extracting(0..<Self.partLength),
                    info: info.span,
                    into: &output
                )
            }
        }
        swap(&material, &next)
        next.wipe()
        month = following
    }

    /// A second one with the same keys.
    package func copy() -> KeyGeneration {
        material.withBytes { bytes in
            KeyGeneration(month: month) { target in
                for index in bytes.indices { target[index] = bytes[index] }
            }
        }
    }

    /// Lends the AES-256-GCM key, 32 bytes.
    package func withKey<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try material.withBytes { bytes throws(E) in
            try body(bytes.extracting(Self.partLength..<2 * Self.partLength))
        }
    }

    /// Lends secret ‖ key, 64 bytes: what is sealed at rest.
    package func withMaterial<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try material.withBytes(body)
    }
}
