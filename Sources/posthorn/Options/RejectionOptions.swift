internal import Lanes
internal import Push
internal import Registrar
internal import Settings

/// Which rejections a command is about.
enum RejectionOptions {
    static let gateway = Option(
        optional: "gateway",
        .origin,
        environment: .none,
        help: "Of this gateway only."
    )
    static let app = Option(optional: "app", .text("APP_ID"), environment: .none, help: "Of this app only.")
    static let since = Option<Moment?>(
        optional: "since",
        .moment,
        environment: .none,
        help: "Since then only: a duration back from now, or a time as 2026-11-30T08:00:00Z."
    )
    static let limit = Option(
        "limit",
        .integer(in: 1...1_000_000, unit: "rows"),
        default: 100,
        environment: .none,
        help: "Rows to show at most, the latest first."
    )

    static func filter(_ values: Values) -> RejectionFilter {
        let now = Timestamp(milliseconds: WallClock.milliseconds())
        return RejectionFilter(
            gateway: values[gateway]?.text,
            app: values[app],
            since: values[since]?.timestamp(now: now)
        )
    }
}
