internal import Hosting
internal import JSON
internal import Push
internal import Registrar
internal import Settings

/// The command `posthorn rejections list`.
enum RejectionsListCommand {
    static let json = Option(flag: "json", environment: .none, help: "Print one JSON object a rejection.")

    static let command = Command(
        CommandSyntax(
            "rejections",
            "list",
            summary: "list pushers that their gateway calls dead and that are kept until you decide",
            description: """
                First how many there are by gateway, app and cause, then the latest of them; with --json only these. 'storm': they came with a jump \
                in the share of dead keys, as a wrong credential or topic at the gateway makes it. 'unproven': nothing that the gateway answered about the \
                app bore them out. Users are shown by a digest, pushkeys by their beginning.
                """,
            groups: [
                OptionGroup(
                    "Options",
                    RejectionOptions.gateway,
                    RejectionOptions.app,
                    RejectionOptions.since,
                    RejectionOptions.limit,
                    json
                ), DatabaseOptions.group,
            ]
        ),
        run: run
    )

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let values = invocation.values
        let filter = RejectionOptions.filter(values)
        var connection = try DatabaseOptions.connect(values)
        let items = try HeldRejections.list(
            filter,
            limit: values[RejectionOptions.limit],
            in: &connection
        )
        if values[json] {
            for item in items { try invocation.output.json { write(item, to: &$0) } }
            return .done
        }
        let groups = try HeldRejections.groups(filter, in: &connection)
        guard !groups.isEmpty else {
            try invocation.output.line("no rejections are held")
            return .done
        }
        try invocation.output.write(RejectionTable.groups(groups))
        try invocation.output.line("")
        try invocation.output.write(RejectionTable.items(items))
        let rest = groups.reduce(0) { $0 + $1.count } - Int64(items.count)
        if rest > 0 { try invocation.output.line("and \(Quantity.grouped(rest)) more") }
        return .done
    }

    private static func write(_ item: HeldRejections.Item, to writer: inout Writer) {
        writer.object { writer in
            writer.member("gateway", item.gateway)
            writer.member("app", item.app)
            writer.member("cause", item.cause.rawValue)
            writer.member("user", item.user)
            writer.member("pusher", item.pusher.description)
            writer.member("pushkey", item.pushkey)
            writer.member("rejections", item.rejections)
            writer.member("registered_at", item.registeredAt.rfc3339)
            writer.member("first_rejected_at", item.firstRejectedAt.rfc3339)
            writer.member("rejected_at", item.rejectedAt.rfc3339)
            writer.member("notification", item.notification)
        }
    }
}

/// How held rejections are shown, one by one and in sum.
enum RejectionTable {
    static func items(_ items: [HeldRejections.Item]) -> String {
        var table = Table(
            ("REJECTED", .left),
            ("GATEWAY", .left),
            ("APP", .left),
            ("CAUSE", .left),
            ("USER", .left),
            ("PUSHER", .left),
            ("PUSHKEY", .left)
        )
        for item in items {
            table.add(
                item.rejectedAt.rfc3339,
                item.gateway,
                item.app,
                item.cause.rawValue,
                item.user,
                item.pusher.description,
                item.pushkey
            )
        }
        return table.rendered()
    }

    static func groups(_ groups: [HeldRejections.Group]) -> String {
        var table = Table(
            ("GATEWAY", .left),
            ("APP", .left),
            ("CAUSE", .left),
            ("HELD", .right),
            ("HOLDING SINCE", .left)
        )
        for group in groups {
            table.add(
                group.gateway,
                group.app,
                group.cause.rawValue,
                Quantity.grouped(group.count),
                group.holdingSince?.rfc3339 ?? ""
            )
        }
        return table.rendered()
    }

    static func write(_ group: HeldRejections.Group, to writer: inout Writer) {
        writer.object { writer in
            writer.member("gateway", group.gateway)
            writer.member("app", group.app)
            writer.member("cause", group.cause.rawValue)
            writer.member("held", group.count)
        }
    }
}
