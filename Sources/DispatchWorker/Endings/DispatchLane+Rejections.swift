internal import Lanes
internal import Postgres
internal import Push
internal import Registrar
internal import Telemetry

/// Rejected pushkeys: counted, judged and, where the guard allows it, their pushers deleted.
extension DispatchLane {
    mutating func reject(_ ticket: Ticket) {
        guard let outgoing = engine.payload(of: ticket) else { return }
        if !rejections.add(ticket, outgoing, transport.tally) {
            metrics.rejections(.moot, 1)
            metrics.rejected.increment()
            engine.confirm(ticket)
        }
    }

    /// Has what the gateways said judged, and ends the rejected records accordingly; without the database they wait.
    ///
    /// With `atOnce` counts are told too, though it is not time yet.
    mutating func settleRejections(_ now: Now, atOnce: Bool = false) {
        guard rejections.isDue(transport.tally, atOnce: atOnce) else { return }
        guard !rejections.tickets.isEmpty || database.isWorthTrying else { return }
        defer { rejections.removeAll() }
        let flush = rejections.flush(transport.tally)
        let ledger = rejections.ledger
        do throws(PostgresError) {
            let outcome = try database.run { (connection: inout Connection) throws(PostgresError) in
                try ledger.settle(flush, on: &connection)
            }
            transport.tally.settled()
            transport.tally.watched.formUnion(outcome.open)
            rejections.told(flush, outcome)
            end(outcome, now)
            tell(outcome)
        } catch {
            rejections.told(flush, nil)
            transport.tally.forgetGone(engine)
            log.warning("deletion_delayed", ["error": .description(of: error)])
            for ticket in rejections.tickets { engine.confirmationFailed(ticket, now: now) }
        }
    }

    private mutating func end(_ outcome: RejectionOutcome, _ now: Now) {
        for (ticket, ending) in zip(rejections.tickets, outcome.endings) {
            transport.tally.forget(ticket)
            metrics.rejections(ending, 1)
            if ending == .again {
                engine.attemptAgain(ticket, now: now)
            } else {
                metrics.rejected.increment()
                engine.confirm(ticket)
            }
        }
        metrics.pushersDeleted.add(outcome.removed)
        metrics.pushersKept.add(outcome.endings.count { $0 == .moot })
        metrics.rejectionsLapsed.add(outcome.lapsed)
    }

    private func tell(_ outcome: RejectionOutcome) {
        for (gate, change) in outcome.changes {
            let fields: LogFields = ["gateway": .text(gate.origin), "app": .text(gate.app)]
            switch change {
            case .began: log.error("rejection_storm_began", fields)
            case .ended: log.info("rejection_storm_ended", fields)
            }
        }
        if outcome.held > 0 { log.warning("rejections_held", ["held": .integer(outcome.held)]) }
        if outcome.removed > 0 { log.info("pushers_deleted", ["deleted": .integer(outcome.removed)]) }
    }

    /// Learns which gates have open rejections, and how many are held: what raises the alarm.
    mutating func lookAtRejections() {
        guard rejections.isLookDue, database.isWorthTrying else { return }
        do throws(PostgresError) {
            let gates = try database.run { (connection: inout Connection) throws(PostgresError) in
                try RejectionLedger.openGates(from: &connection)
            }
            rejections.looked(gates, &transport.tally)
            guard rejections.isCountDue else { return }
            var held: [String: [HoldCause: Int64]] = [:]
            if !gates.isEmpty {
                held = try database.run { (connection: inout Connection) throws(PostgresError) in
                    try RejectionLedger.heldCounts(from: &connection)
                }
            }
            for (origin, counts) in rejections.counted(held, gateways.origins) {
                metrics.held(origin, counts)
            }
        } catch {
            rejections.looked(nil, &transport.tally)
            log.warning("database_away", ["error": .description(of: error)])
        }
    }
}
