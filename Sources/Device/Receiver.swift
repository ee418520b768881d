import KeyChains
package import Push
package import Sealing

/// Opens messages as a device does.
///
/// A message's month is not authenticated: whoever stands between could name a far one and make a device that believes it move its chain and
/// lose its keys for good. So nothing moves before the message has opened:
///
/// ```
///   month strict? ── chain known? ── not too far ahead? ── derive a copy ── open ── keep the copy, forget older keys ── unframe
/// ```
///
/// Kept are the newest month's keys and those of the month before. One thread's own.
package struct Receiver: ~Copyable {
    /// Steps ahead of its newest keys that a device believes by default: two years of sleep.
    package static let defaultStepLimit = 24
    /// Months ahead of its own clock that a device believes, where it has one.
    package static let monthsAheadOfClock = 2

    private let stepLimit: Int
    private let clock: Month?
    private var cipher: Cipher
    private var derivation: ChainDeriver
    private var opened: [UInt8] = []

    /// - Parameters:
    ///   - stepLimit: how many months a message may be ahead of the newest keys; default 24.
    ///   - clock: the month of the device's own clock; a message more than two months ahead of it is refused, too. Default none: the
    ///     message's month decides alone.
    /// - Throws: ``SealingError/library(operation:reason:)``.
    package init(
        stepLimit: Int = Receiver.defaultStepLimit,
        clock: Month? = nil
    ) throws(SealingError) {
        let cipher = try Cipher()
        let derivation = try ChainDeriver()
        self.cipher = cipher
        self.derivation = derivation
        self.stepLimit = stepLimit
        self.clock = clock
    }

    /// Begins a chain: derives the first generation, after which the initial secret is not needed any more.
    package mutating func register(
        _ secret: InitialSecret,
        month: Month,
        keyIdentifier: String?
    ) throws(OpenError) -> Registration {
        do throws(KeyChainError) {
            let first = try KeyGeneration(initialSecret: secret, month: month, using: &derivation)
            return Registration(keyIdentifier: keyIdentifier, chain: KeyChain(newest: first))
        } catch {
            throw OpenError(error)
        }
    }

    /// Opens `message` with the keys of `registration`, which moves forward if the message proves that its chain has.
    ///
    /// - Returns: the content.
    /// - Throws: ``OpenError``; the registration is then as it was, but for `malformedFrame`, which is thrown about a message that has
    ///   opened.
    package mutating func open(
        _ message: borrowing SealedMessage,
        with registration: Registration
    ) throws(OpenError) -> [UInt8] {
        guard let month = Month(message.month.span) else { throw .malformedMonth }
        guard message.names(registration) else { throw .unknownKeyIdentifier }
        opened.removeAll(keepingCapacity: true)
        defer { SecretBytes.wipe(&opened) }
        if month <= registration.chain.month {
            try open(message.sealed, with: registration.chain, month)
        } else {
            try check(month, isNear: registration.chain.month)
            let candidate = try advanced(registration.chain, to: month)
            try open(message.sealed, with: candidate, month)
            registration.chain = candidate
        }
        return try content(message.format)
    }

    // MARK: - Steps

    private func check(_ month: Month, isNear newest: Month) throws(OpenError) {
        guard month - newest <= stepLimit else { throw .tooFarAhead(from: newest, to: month) }
        if let clock, month > clock + Self.monthsAheadOfClock { throw .tooFarAhead(from: clock, to: month) }
    }

    private mutating func advanced(_ chain: borrowing KeyChain, to month: Month) throws(OpenError) -> KeyChain
    {
        do throws(KeyChainError) {
            return try chain.advanced(to: month, limit: stepLimit, using: &derivation)
        } catch {
            throw OpenError(error)
        }
    }

    private mutating func open(
        _ sealed: [UInt8],
        with chain: borrowing KeyChain,
        _ month: Month
    ) throws(OpenError) {
        do throws(SealingError) {
            let isKept: Void? = try chain.withKey(of: month) { key throws(SealingError) in
                try cipher.setKey(key)
                try cipher.open(sealed.span, into: &opened)
            }
            guard isKept == nil else { return }
        } catch {
            throw OpenError(error)
        }
        throw .keyNotKept(month)
    }

    private func content(_ format: SealedMessage.Format) throws(OpenError) -> [UInt8] {
        switch format {
        case .unframed: return Array(opened)
        case .framed:
            guard let payload = PlaintextFrame.payloadRange(in: opened.span) else { throw .malformedFrame }
            return Array(opened[payload])
        }
    }
}

extension SealedMessage {
    /// Whether it was sealed for this registration's chain, as far as it says.
    ///
    /// The concept of 2024 has no names for chains; there the key alone decides.
    fileprivate func names(_ registration: Registration) -> Bool {
        keyIdentifier == nil && format == .unframed || keyIdentifier == registration.keyIdentifier
    }
}
