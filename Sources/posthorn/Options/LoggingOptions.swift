internal import Glibc
internal import Hosting
internal import Settings
internal import Telemetry

/// How a worker logs to standard error.
enum LoggingOptions {
    enum Format: String, CaseIterable {
        case auto
        case json
        case text
    }

    static let level = Option<Log.Level>(
        "log-level",
        .choice(),
        default: .info,
        help: "Least level that is written."
    )
    static let format = Option<Format>(
        "log-format",
        .choice(),
        default: .auto,
        help: "How lines look; auto is text on a terminal, else JSON."
    )

    static let group = OptionGroup("Logging", level, format)

    /// The log of a process, after its first lines: what was set, and what was probably set in vain.
    static func log(_ invocation: Invocation, metrics: Registry) -> Log {
        let values = invocation.values
        let isText =
            switch values[format] {
            case .auto: Terminal.isTerminal(STDERR_FILENO)
            case .json: false
            case .text: true
            }
        let colours = Terminal.hasColours(STDERR_FILENO, environment: invocation.environment)
        let style: LogStyle =
            isText ? .text(colours: colours, secondsFromUTC: LogClock.secondsFromUTC) : .json
        let log = Log(level: values[level], style: style, metrics: metrics)
        let settings = values.listing.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
        log.info("starting", ["version": .text(Program.version), "settings": .text(settings)])
        for warning in values.warnings { log.warning("doubtful setting", ["what": .text(warning)]) }
        return log
    }
}
