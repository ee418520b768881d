package import Push

/// Decides what becomes of a letter on a replay; pure, so that `show`, a dry run and the replay itself cannot disagree.
///
/// Asked in this order:
///
/// 1. Was it replayed as often as allowed? Parked, whatever else: it would otherwise be looked at for ever.
/// 2. Can it be read at all? What the stage would refuse for its form is refused here, by the same code that reads it there.
/// 3. Has its time passed? Refused, unless the operator forces it.
/// 4. Does what it needs exist: pusher, gateway; channel or type of an event?
/// 5. Can the device still open it? See ``keyWindow(_:_:)``. Events are sealed anew and need not ask.
package struct Judge: Sendable {
    private let source: LetterSource
    private let rules: ReplayRules

    package init(_ source: LetterSource, _ rules: ReplayRules) {
        self.source = source
        self.rules = rules
    }

    /// - Parameters:
    ///   - letter: of the judge's source.
    ///   - facts: what the database knew a moment ago.
    ///   - now: by our clock, as the stages judge expiry.
    /// - Returns: what becomes of it.
    package func verdict(on letter: Letter, _ facts: Circumstances, now: Timestamp) -> Verdict {
        if rules.purpose == .park { return .park }
        // Whoever replays what is parked has decided that already.
        if source.kind != .parking, letter.facts.history.replayCount >= rules.maximumReplays { return .park }
        switch letter.subject {
        case .unreadable(let reason, let detail):
            return .refuse(ReplayRefusal(.stillAtFault, "\(reason): \(detail)"))
        case .notification(let notification):
            if let refusal = obstacle(notification, facts) { return .refuse(refusal) }
            return timely(notification.expires, now)
        case .event(let event):
            if let refusal = obstacle(event, facts) { return .refuse(refusal) }
            return timely(event.expires, now)
        }
    }

    private func timely(_ expires: Timestamp, _ now: Timestamp) -> Verdict {
        if expires > now { return .replay(isForced: false) }
        return rules.forcesExpired
            ? .replay(isForced: true) : .refuse(ReplayRefusal(.expired, "its time was over at \(expires)"))
    }

    private func obstacle(_ notification: NotificationSubject, _ facts: Circumstances) -> ReplayRefusal? {
        guard let pusher = facts.pushers[notification.pusher] else {
            return ReplayRefusal(.pusherGone, "pusher \(notification.pusher) is not registered any more")
        }
        if let gateway = notification.gateway, !facts.gateways.contains(gateway) {
            return ReplayRefusal(.unknownGateway, "\(gateway) is not on the list of gateways")
        }
        return Self.keyWindow(notification, pusher)
    }

    private func obstacle(_ event: TriggerEvent, _ facts: Circumstances) -> ReplayRefusal? {
        if let channel = event.channel {
            if facts.channels.contains(channel) { return nil }
            return ReplayRefusal(.unknownChannel, "the channel that the event names does not exist")
        }
        if facts.types.contains(event.type) { return nil }
        return ReplayRefusal(.unknownType, "the event names no channel, and its type belongs to none")
    }

    /// Whether the device can still open a notification.
    ///
    /// A device keeps the keys of its newest month and of the one before, and its newest month is that of the newest message that it
    /// got: at most the month of our chain. A registration made anew since has a chain of its own, under which nothing older opens.
    /// Source: gemF_PushNotification, the concept's rule that keys older than two months are deleted, the newest never.
    static func keyWindow(
        _ notification: NotificationSubject,
        _ pusher: Circumstances.Pusher
    ) -> ReplayRefusal? {
        guard let month = notification.month else { return nil }
        if pusher.registered > notification.registered {
            return ReplayRefusal(.keyWindowPassed, "the device was registered anew at \(pusher.registered)")
        }
        guard let newest = pusher.chainMonth else {
            return ReplayRefusal(.keyWindowPassed, "the device has no keys any more")
        }
        if newest - month >= 2 {
            return ReplayRefusal(
                .keyWindowPassed,
                "it is sealed under \(month), and the device, whose newest month is \(newest), keeps that and \(newest - 1)"
            )
        }
        return nil
    }
}
