internal import Push

extension ScriptPlayer {
    /// Turns a rule and its chances into what is done with one request.
    struct Casting {
        let arrival: GatewayArrival
        let manner: GatewayManner
        let seed: UInt64
        let now: Timestamp
        private var conduct = GatewayConduct()

        /// Rejections that a reference gateway keeps at most until they are told.
        private static let suspectLimit = 100_000

        init(arrival: GatewayArrival, manner: GatewayManner, seed: UInt64, now: Timestamp) {
            self.arrival = arrival
            self.manner = manner
            self.seed = seed
            self.now = now
        }

        mutating func conduct(under rule: GatewayScript.Rule, _ state: inout State) -> GatewayConduct {
            conduct.delay = delay(rule.delay, &state.dice)
            conduct.action = action(rule.action)
            conduct.retryAfter = rule.retryAfter.map { retryAfter($0, conduct.delay) }
            conduct.pace = rule.pace
            conduct.order = order(rule.order, &state.dice)
            conduct.unset = rule.unset
            conduct.summary = rule.summary
            conduct.forgets = rule.forgets
            conduct.unknownIDs = (0..<rule.unknownIDs).map { _ in
                "unknown-\(String(state.dice.next(), radix: 16))"
            }
            switch rule.action {
            case .answer, .truncate: castItems(rule.items, &state)
            case .status, .hang, .close, .html, .empty, .badJSON, .wrongJSON: break
            }
            return conduct
        }

        private mutating func castItems(_ rules: [GatewayScript.ItemRule], _ state: inout State) {
            let told = isReference ? state.suspects.intersection(arrival.pushkeys) : []
            state.suspects.subtract(told)
            conduct.deadPushkeys = told
            for item in arrival.items {
                guard let (rule, devices) = fate(of: item, rules, &state.dice) else { continue }
                cast(item, rule, devices.filter { !told.contains($0.pushkey) }, &state)
            }
        }

        private mutating func cast(
            _ item: GatewayArrival.Item,
            _ rule: GatewayScript.ItemRule,
            _ devices: [ReceivedDevice],
            _ state: inout State
        ) {
            let id = item.id ?? ""
            switch rule.outcome {
            case .success: break
            case .fail: conduct.failures[id] = rule.error
            case .reject where isReference: suspect(devices, &state)
            case .reject: conduct.deadPushkeys.formUnion(devices.map(\.pushkey))
            case .rejectUnknown:
                conduct.strangeKeys[id] = ["unknown-key-\(String(state.dice.next(), radix: 16))"]
            case .omit: conduct.omittedIDs.insert(id)
            case .duplicate: conduct.repeatedIDs.insert(id)
            case .contradict: conduct.contradictedIDs.insert(id)
            }
        }

        /// A refusal by the provider comes after the answer: only APNs' are kept, by the key alone, and none that its column cannot hold.
        private func suspect(_ devices: [ReceivedDevice], _ state: inout State) {
            for device in devices
            where !device.app.hasSuffix(".firebase") && device.pushkey.utf16.count <= 255 {
                guard state.suspects.count < Self.suspectLimit else { return }
                state.suspects.insert(device.pushkey)
            }
        }

        /// The first rule that fits the item, and the devices of it that are meant.
        private func fate(
            of item: GatewayArrival.Item,
            _ rules: [GatewayScript.ItemRule],
            _ dice: inout ScriptDice
        ) -> (GatewayScript.ItemRule, [ReceivedDevice])? {
            for rule in rules {
                let devices = item.devices.filter { device in
                    (rule.apps.isEmpty || rule.apps.fit(device.app))
                        && (rule.pushkeys.isEmpty || rule.pushkeys.contains(device.pushkey))
                        && (!rule.byPushkey
                            || ScriptDice.has(device.pushkey, within: rule.share, seed: seed))
                }
                guard !devices.isEmpty, rule.byPushkey || dice.falls(within: rule.share) else { continue }
                return (rule, devices)
            }
            return nil
        }

        private var isReference: Bool {
            if case .reference = manner { true } else { false }
        }

        private func delay(_ range: ClosedRange<Duration>, _ dice: inout ScriptDice) -> Duration {
            guard range.lowerBound < range.upperBound else { return range.lowerBound }
            let span = (range.upperBound - range.lowerBound) / Duration.milliseconds(1)
            return range.lowerBound + .milliseconds(Int64.random(in: 0...Int64(span), using: &dice))
        }

        private func action(_ action: GatewayScript.Action) -> GatewayConduct.Action {
            switch action {
            case .answer: .answer
            case .status(let status, let body?, let type): .respond(status: status, body: body, type: type)
            case .status(let status, nil, _): .refuse(status: status)
            case .truncate(let bytes): .truncate(bytes: bytes)
            case .hang: .hang
            case .close: .close
            case .html: .respond(status: 200, body: Self.page, type: "text/html; charset=utf-8")
            case .empty: .respond(status: 200, body: "")
            case .badJSON: .respond(status: 200, body: #"{"results":[{"id":"#)
            case .wrongJSON: .respond(status: 200, body: #"{"ok":true,"data":{"results":"none"}}"#)
            }
        }

        private static let page = """
            <!DOCTYPE html>
            <html><head><title>Please wait</title></head><body><h1>We will be right back.</h1></body></html>

            """

        private func retryAfter(_ retryAfter: GatewayScript.RetryAfter, _ delay: Duration) -> String {
            switch retryAfter {
            case .seconds(let seconds): String(seconds)
            case .date(let seconds): now.adding(delay).adding(.seconds(seconds)).httpDate
            case .text(let text): text
            }
        }

        /// A reference gateway sorts encrypted results by id and gives plain ones in the order of a hash table.
        private func order(
            _ order: GatewayScript.Order?,
            _ dice: inout ScriptDice
        ) -> GatewayConduct.Order {
            let usual: GatewayScript.Order =
                !isReference
                ? .submitted : GatewayInterface(path: arrival.path) == .plainBatch ? .random : .byID
            return switch order ?? usual {
            case .submitted: .asSubmitted
            case .reversed: .reversed
            case .byID: .sortedByID
            case .random: .shuffled(seed: dice.next())
            }
        }
    }
}

extension Timestamp {
    /// The moment as HTTP writes it.
    ///
    /// Such as `Mon, 30 Nov 2026 12:00:00 GMT`. Source: RFC 9110 §5.6.7.
    fileprivate var httpDate: String {
        let parts = rfc3339.split(whereSeparator: { "-T:.Z".contains($0) }).map(String.init)
        guard parts.count >= 6, let month = Int(parts[1]), (1...12).contains(month) else { return "" }
        let days = seconds / 86_400 - (seconds % 86_400 < 0 ? 1 : 0)
        // 1970-01-01 was a Thursday.
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int((days % 7 + 7) % 7)]
        let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        return
            "\(weekday), \(parts[2]) \(names[month - 1]) \(parts[0]) \(parts[3]):\(parts[4]):\(parts[5]) GMT"
    }
}
