internal import JSON

/// The figures for a person or for a program.
struct Report {
    private let figures: [Figures]

    init(_ figures: [Figures]) {
        self.figures = figures
    }

    /// One object a line.
    var json: String {
        var writer = Writer()
        for figure in figures {
            writer.object { writer in
                writer.member("name", figure.name.rawValue)
                writer.member("notifications_per_s", Int(figure.perSecond.rounded()))
                writer.name("ratio")
                if let ratio = ratio(of: figure) {
                    writer.double(Self.rounded(ratio, 1000))
                } else {
                    writer.null()
                }
                writer.member("cpu_us_per_notification", Self.rounded(figure.cpuPerNotification, 100))
                writer.member("peak_rss_mb", Self.rounded(figure.peakMegabytes, 10))
            }
            writer.endLine()
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    var table: String {
        var rows = [["", "notifications/s", "ratio", "CPU µs each", "peak MB"]]
        for figure in figures {
            let ratio = ratio(of: figure).map {
                Self.text($0, 100) + " of \(figure.name.baseline?.rawValue ?? "")"
            }
            rows.append([
                figure.name.rawValue, Self.grouped(Int(figure.perSecond.rounded())), ratio ?? "",
                Self.text(figure.cpuPerNotification, 100), Self.text(figure.peakMegabytes, 10),
            ])
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].unicodeScalars.count }.max() ?? 0 }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let padding = String(repeating: " ", count: widths[column] - cell.unicodeScalars.count)
                line += column == 0 ? cell + padding : "   " + padding + cell
            }
            return line + "\n"
        }.joined()
    }

    /// What part of its baseline's notifications a second it makes; nil if it has none.
    private func ratio(of figure: Figures) -> Double? {
        guard let baseline = figures.first(where: { $0.name == figure.name.baseline }) else { return nil }
        return figure.perSecond / baseline.perSecond
    }

    private static func rounded(_ value: Double, _ unit: Double) -> Double {
        (value * unit).rounded() / unit
    }

    private static func text(_ value: Double, _ unit: Int) -> String {
        let number = Int((value * Double(unit)).rounded())
        let digits = "\(unit)".utf8.count - 1
        let fraction = "\(number % unit)"
        return "\(number / unit)." + String(repeating: "0", count: digits - fraction.utf8.count) + fraction
    }

    private static func grouped(_ number: Int) -> String {
        var text = ""
        for (index, digit) in "\(number)".reversed().enumerated() {
            if index > 0 && index % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }
}
