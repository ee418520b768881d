internal import DeadLetters
internal import Settings

/// How carefully letters are sent again or set aside.
enum ReplayOptions {
    static let rate = Option(
        optional: "rate",
        .integer(in: 1...1_000_000, unit: "letters a second"),
        otherwise: "as fast as the broker takes them",
        environment: .none,
        help: "The most letters to send in a second."
    )
    static let lagAllowance = Option(
        "lag-allowance",
        .integer(in: 0...1_000_000_000, unit: "records"),
        default: 20_000,
        environment: .none,
        help:
            "Wait while the live lanes are that much further behind than at best since it began; 0 does not look."
    )
    static let lagPatience = Option(
        "lag-patience",
        .duration(in: .seconds(1) ... .seconds(86_400)),
        default: .seconds(600),
        environment: .none,
        help: "Stop if the live lanes have not caught up after this."
    )
    static let maximumReturns = Option(
        "max-returns",
        .integer(in: 0...1_000_000, unit: "letters"),
        default: 100,
        environment: .none,
        help: "Stop when that many letters of this replay are dead letters again; 0 does not look."
    )

    static let patience = Option(
        "patience",
        .duration(in: .seconds(1) ... .seconds(3600)),
        default: .seconds(60),
        environment: .none,
        help: "Stop when the broker or the database has not answered for so long."
    )

    static let careGroup = OptionGroup("Care", rate, lagAllowance, lagPatience, maximumReturns, patience)

    static func settings(_ values: Values) -> ReplaySettings {
        var settings = ReplaySettings()
        settings.rate = values[rate]
        settings.lagAllowance = values[lagAllowance] == 0 ? nil : Int64(values[lagAllowance])
        settings.lagPatience = values[lagPatience]
        settings.patience = values[patience]
        settings.maximumReturns = values[maximumReturns] == 0 ? nil : values[maximumReturns]
        return settings
    }
}
