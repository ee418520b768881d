/// Everything that is counted, at one moment.
struct Figures: Sendable {
    /// In ``Lanes/Monotonic`` nanoseconds.
    var time: Int64 = 0
    var balance = Ledger.Balance()
    /// Events that the encrypt lane has committed.
    var received = 0
    var withoutSubscribers = 0
    var sealed = 0
    var chainsMoved = 0
    /// Notifications that the gateway has acknowledged.
    var delivered = 0
    var deadLetters = 0
    /// Requests that the gateway got.
    var requests = 0
}

extension Figures {
    /// With commas between thousands.
    static func grouped(_ number: Int) -> String {
        var text = ""
        let digits = String(number.magnitude)
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.utf8.count - index) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return number < 0 ? "-" + text : text
    }

    /// Seconds, to the millisecond.
    static func seconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return Double(seconds) + Double(attoseconds / 1_000_000_000_000_000) / 1000
    }

    /// With one digit behind the point.
    static func tenths(_ value: Double) -> String {
        let tenths = Int((min(max(value, 0), 1e12) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// Milliseconds as a person reads them: `0.8 ms`, `23 ms`.
    static func milliseconds(_ value: Double) -> String {
        value < 10 ? "\(tenths(value)) ms" : "\(grouped(Int(min(value, 1e12).rounded()))) ms"
    }

    /// How many a second.
    static func rate(_ count: Int, in duration: Duration) -> Int {
        let seconds = duration / .seconds(1)
        return seconds > 0 ? Int(min(Double(count) / seconds, 1e12).rounded()) : 0
    }
}
