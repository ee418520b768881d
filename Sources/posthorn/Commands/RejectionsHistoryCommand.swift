internal import Hosting
internal import JSON
internal import Push
internal import Registrar
internal import Settings

/// The command `posthorn rejections history`.
enum RejectionsHistoryCommand {
    static let user = Option(
        optional: "user",
        .text("ID"),
        environment: .none,
        help: "Of this user only; shown by a digest."
    )
    static let decisions = Option(
        flag: "decisions",
        environment: .none,
        help: "What operators applied and discarded, instead of the removed pushers."
    )
    static let json = Option(flag: "json", environment: .none, help: "Print one JSON object a line.")

    static let command = Command(
        CommandSyntax(
            "rejections",
            "history",
            summary: "tell which pushers were removed, when, by whom and why",
            description: """
                'rejected': the gateway called the pushkey dead; 'confirmed': as often as --confirm-rejections asks; 'applied': an operator let a held \
                rejection pass. A device that registers again takes its channel settings over, as RESTORED tells.
                """,
            groups: [
                OptionGroup(
                    "Options",
                    RejectionOptions.gateway,
                    RejectionOptions.app,
                    user,
                    RejectionOptions.since,
                    RejectionOptions.limit,
                    decisions,
                    json
                ), DatabaseOptions.group,
            ]
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let values = invocation.values
        var connection = try DatabaseOptions.connect(values)
        let limit = values[RejectionOptions.limit]
        if values[decisions] {
            try tell(RemovalHistory.decisions(limit: limit, in: &connection), invocation)
        } else {
            let removals = try RemovalHistory.removals(
                RejectionOptions.filter(values),
                user: values[user],
                limit: limit,
                in: &connection
            )
            try tell(removals, invocation)
        }
        return .done
    }

    private static func tell(_ removals: [RemovalHistory.Removal], _ invocation: Invocation) throws {
        if invocation.values[json] {
            for removal in removals { try invocation.output.json { write(removal, to: &$0) } }
            return
        }
        var table = Table(
            ("REMOVED", .left),
            ("BY", .left),
            ("REASON", .left),
            ("GATEWAY", .left),
            ("APP", .left),
            ("USER", .left),
            ("DEVICE", .left),
            ("PUSHER", .left),
            ("RESTORED", .left)
        )
        for removal in removals {
            table.add(
                removal.removedAt.rfc3339,
                removal.removedBy,
                removal.reason,
                removal.gateway,
                removal.app,
                removal.user,
                removal.device,
                removal.pusher.description,
                removal.restoredAt?.rfc3339 ?? ""
            )
        }
        try invocation.output.write(table.rendered())
    }

    private static func write(_ removal: RemovalHistory.Removal, to writer: inout Writer) {
        writer.object { writer in
            writer.member("removed_at", removal.removedAt.rfc3339)
            writer.member("removed_by", removal.removedBy)
            writer.member("reason", removal.reason)
            writer.member("gateway", removal.gateway)
            writer.member("app", removal.app)
            writer.member("user", removal.user)
            writer.member("device", removal.device)
            writer.member("pusher", removal.pusher.description)
            writer.member("rejected_at", removal.rejectedAt.rfc3339)
            writer.member("notification", removal.notification)
            writer.name("restored_at")
            if let restored = removal.restoredAt { writer.string(restored.rfc3339) } else { writer.null() }
        }
    }

    private static func tell(_ decisions: [RemovalHistory.Decision], _ invocation: Invocation) throws {
        if invocation.values[json] {
            for decision in decisions { try invocation.output.json { write(decision, to: &$0) } }
            return
        }
        var table = Table(
            ("DECIDED", .left),
            ("BY", .left),
            ("WHAT", .left),
            ("PUSHERS", .right),
            ("GATEWAY", .left),
            ("APP", .left),
            ("SINCE", .left)
        )
        for decision in decisions {
            table.add(
                decision.at.rfc3339,
                decision.by,
                decision.decision,
                Quantity.grouped(decision.pushers),
                decision.filter.gateway ?? "",
                decision.filter.app ?? "",
                decision.filter.since?.rfc3339 ?? ""
            )
        }
        try invocation.output.write(table.rendered())
    }

    private static func write(_ decision: RemovalHistory.Decision, to writer: inout Writer) {
        func member(_ name: StaticString, _ value: String?, _ writer: inout Writer) {
            writer.name(name)
            if let value { writer.string(value) } else { writer.null() }
        }
        writer.object { writer in
            writer.member("decided_at", decision.at.rfc3339)
            writer.member("decided_by", decision.by)
            writer.member("decision", decision.decision)
            writer.member("pushers", decision.pushers)
            member("gateway", decision.filter.gateway, &writer)
            member("app", decision.filter.app, &writer)
            member("since", decision.filter.since?.rfc3339, &writer)
        }
    }
}
