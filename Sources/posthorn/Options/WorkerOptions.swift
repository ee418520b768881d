internal import Hosting
internal import Settings

/// What every worker is told about its process.
enum WorkerOptions {
    static let lanes = Option(
        "lanes",
        .integer(in: 1...64, unit: "threads"),
        default: 1,
        help: "Lanes to run, each a thread with connections of its own; about one a core."
    )
    static let instance = Option(
        optional: "instance",
        .text("NAME"),
        otherwise: "host name and first free slot",
        help: "Name of this process, unlike that of any other that runs, and the same after a restart."
    )
    static let drainDeadline = Option(
        "drain-deadline",
        .duration(in: .seconds(1) ... .seconds(600)),
        default: .seconds(25),
        help:
            "Time to finish or hand back what is in flight after SIGTERM; then the process ends with code 75."
    )
    static let stuckAfter = Option(
        "stuck-after",
        .duration(in: .seconds(10) ... .seconds(3600)),
        default: .seconds(120),
        help: "A lane that shows no life for longer makes /health/live fail."
    )
    static let adminListen = Option(
        "admin-listen",
        .address,
        default: Address(host: "127.0.0.1", port: 0),
        help:
            "Where /metrics, /health/live and /health/ready are served; with port 0 the system chooses, and the log tells."
    )

    static let group = OptionGroup("Worker", lanes, instance, drainDeadline, stuckAfter, adminListen)

    /// The name of this process, to be kept while it works; `group` is what it shares with others of its kind.
    static func instanceName(_ values: Values, group: String) throws(HostingError) -> InstanceName {
        try InstanceName(given: values[instance], group: group)
    }

    /// The process of a worker whose lanes do `role`.
    static func configuration(role: String, _ values: Values) -> WorkerProcess.Configuration {
        let admin = values[adminListen]
        return WorkerProcess.Configuration(
            role: role,
            lanes: values[lanes],
            drainDeadline: values[drainDeadline],
            stuckAfter: values[stuckAfter],
            admin: (admin.host, admin.port)
        )
    }
}
