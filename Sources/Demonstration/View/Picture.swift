/// What happens, in one picture; stands at the top.
enum Picture {
    static func lines(_ ink: Ink) -> [String] {
        let arrow = ink.faint("──▶")
        let way = [
            "service", ink.accent("Kafka"), ink.bold("encrypt"), ink.accent("Kafka"), ink.bold("dispatch"),
            "gateway", "devices",
        ].joined(separator: " \(arrow) ")
        return [
            "",
            "  \(ink.bold("posthorn demo"))  from an event to a message that one device alone can open",
            "",
            "  \(way)",
            ink.faint("  ╰───── readable ────╯    │    ╰────── sealed for one device ───────╯ readable"),
            ink.faint("                           │"),
            "                      \(ink.accent("PostgreSQL"))\(ink.faint(": who wants it, and with which key"))",
            "",
        ]
    }
}
