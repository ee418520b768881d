internal import Settings

/// Whose calendar the key chains follow.
enum MonthOptions {
    static let zone = Option(
        "time-zone",
        .text("ZONE"),
        default: "Europe/Berlin",
        help:
            "Time zone that says which month it is, by the database's clock; the same for the whole service."
    )

    static let group = OptionGroup("Months", zone)
}
