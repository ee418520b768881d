internal import Glibc
internal import Hosting

/// One line on standard error that says how far a long command is, for a person who watches; silent when nobody does.
///
/// Redrawn a few times a second at most. Messages go through ``say(_:)``, which makes room for them.
struct ProgressLine {
    private let isShown: Bool
    private let width: Int
    private let start = ContinuousClock.now
    private var next = ContinuousClock.now
    private var isDrawn = false

    private static let interval = Duration.milliseconds(100)
    private static let barWidth = 24

    init(environment: [String: String]) {
        isShown = Terminal.isTerminal(STDERR_FILENO) && environment["TERM", default: ""] != "dumb"
        width = Terminal.columns(STDERR_FILENO, environment: environment)
    }

    /// Shows how many `things` are done, and, where the whole is known, which part of it.
    mutating func show(_ count: Int64, _ things: String, part: (done: Int64, of: Int64)? = nil) {
        let now = ContinuousClock.now
        guard isShown, now >= next else { return }
        next = now + Self.interval
        var text = ""
        if let part, part.of > 0 {
            let share = min(1, max(0, Double(part.done) / Double(part.of)))
            let filled = Int(share * Double(Self.barWidth))
            text += "[" + String(repeating: "=", count: filled)
            text += String(repeating: " ", count: Self.barWidth - filled) + "] \(Int(share * 100)) %  "
        }
        text += "\(Quantity.grouped(count)) \(things)"
        if let rate = Quantity.rate(count, in: now - start) { text += "  \(Quantity.grouped(rate))/s" }
        Diagnostics.write("\r" + String(text.unicodeScalars.prefix(max(1, width - 1))) + "\u{1b}[K")
        isDrawn = true
    }

    /// Writes a message in the program's form.
    mutating func say(_ message: String) {
        clear()
        Diagnostics.write("posthorn: \(message)\n")
    }

    /// Takes the line away.
    mutating func clear() {
        guard isDrawn else { return }
        Diagnostics.write("\r\u{1b}[K")
        isDrawn = false
        next = .now
    }
}

/// Numbers as summaries show them.
enum Quantity {
    /// With commas between thousands.
    static func grouped(_ number: Int64) -> String {
        let digits = String(number.magnitude)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.utf8.count - index) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return number < 0 ? "-" + text : text
    }

    /// Seconds with milliseconds.
    static func seconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return Double(seconds * 1000 + attoseconds / 1_000_000_000_000_000) / 1000
    }

    /// How many a second; nil before there is anything to divide by.
    static func rate(_ count: Int64, in duration: Duration) -> Int64? {
        let seconds = seconds(duration)
        return seconds > 0 ? Int64(min(Double(count) / seconds, 1e15)) : nil
    }
}
