/// One message from both sides: what everybody on the way saw, and what its device shows.
struct ExhibitView {
    private let exhibit: Exhibit
    private let user: String
    private let device: Population.Device
    private let opensElsewhere: Bool?

    private static let cardWidth = 60

    /// - Parameters:
    ///   - exhibit: the message.
    ///   - population: whose devices there are.
    ///   - opensElsewhere: whether it opened at another device, where that was tried.
    init(_ exhibit: Exhibit, _ population: Population, opensElsewhere: Bool?) {
        self.exhibit = exhibit
        self.opensElsewhere = opensElsewhere
        device = population.devices[exhibit.device]
        user = population.name(ofUser: device.user)
    }

    func lines(_ ink: Ink) -> [String] {
        func row(_ name: String, _ value: String) -> String { "    \(ink.faint(name.leading(13)))\(value)" }
        var lines = ["", "  \(ink.bold("One message, as the gateway got it"))"]
        lines += [
            row("id", exhibit.id),
            row("for", "\(device.appID), pushkey \(device.pushkey.prefix(8))…"),
            row("key", "chain \(exhibit.keyIdentifier), month \(exhibit.month)"),
            row("ciphertext", "\(exhibit.ciphertext.prefix(44))…"),
            row("", "\(exhibit.ciphertext.utf8.count) characters of Base64, whatever the message"),
        ]
        lines += ["", "  \(ink.bold("and as the \(device.name) of user \(user) shows it"))"]
        lines += card(ink).map { "    " + $0 }
        switch opensElsewhere {
        case false?:
            lines.append(ink.faint("    With another device's key it does not open; that was tried."))
        case true?: lines.append(ink.bad("    With another device's key it opens as well!"))
        case nil: break
        }
        return lines
    }

    private func card(_ ink: Ink) -> [String] {
        let inside = Self.cardWidth - 4
        func side(_ text: String, _ paint: (String) -> String = { $0 }) -> String {
            let shown = String(text.unicodeScalars.prefix(inside))
            return ink.accent("│ ") + paint(shown.leading(inside)) + ink.accent(" │")
        }
        let edge = String(repeating: "─", count: Self.cardWidth - 2)
        return [
            ink.accent("╭\(edge)╮"),
            side("Prescriptions".leading(inside - 3) + "now", ink.faint),
            side(exhibit.message.title, ink.bold),
            side(exhibit.message.body),
            ink.accent("╰\(edge)╯"),
        ]
    }
}
