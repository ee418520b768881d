/// What one run of one benchmark came to, as its process tells it in one line: count, nanoseconds, microseconds of CPU, kilobytes.
struct Measurement {
    let notifications: Int
    let nanoseconds: Int64
    /// User and system time of all threads of the process.
    let cpuMicroseconds: Int64
    /// The most memory that the process ever had, from its start on.
    let peakKilobytes: Int

    init(_ stretch: Meter.Stretch) {
        notifications = stretch.notifications
        nanoseconds = stretch.nanoseconds
        cpuMicroseconds = stretch.cpuMicroseconds
        peakKilobytes = Meter.peakKilobytes()
    }

    init?(line: String) {
        let numbers = line.split(whereSeparator: \.isWhitespace).compactMap { Int64($0) }
        guard numbers.count == 4, numbers[0] > 0, numbers[1] > 0 else { return nil }
        notifications = Int(numbers[0])
        nanoseconds = numbers[1]
        cpuMicroseconds = numbers[2]
        peakKilobytes = Int(numbers[3])
    }

    var line: String { "\(notifications) \(nanoseconds) \(cpuMicroseconds) \(peakKilobytes)" }

    /// For whoever watches.
    var summary: String {
        "\(Int(perSecond.rounded()))/s, \((cpuPerNotification * 100).rounded() / 100) µs CPU, \(peakKilobytes / 1024) MB"
    }

    var perSecond: Double { Double(notifications) * 1e9 / Double(nanoseconds) }
    var cpuPerNotification: Double { Double(cpuMicroseconds) / Double(notifications) }
}

/// The figures of one benchmark over all rounds.
struct Figures {
    let name: BenchmarkName
    /// Medians over the rounds.
    let perSecond: Double
    let cpuPerNotification: Double
    /// The most over the rounds.
    let peakMegabytes: Double

    init?(_ name: BenchmarkName, _ rounds: [Measurement]) {
        guard !rounds.isEmpty else { return nil }
        self.name = name
        perSecond = Self.median(rounds.map(\.perSecond))
        cpuPerNotification = Self.median(rounds.map(\.cpuPerNotification))
        peakMegabytes = Double(rounds.map(\.peakKilobytes).max() ?? 0) / 1024
    }

    private static func median(_ values: [Double]) -> Double {
        let values = values.sorted()
        let middle = values.count / 2
        return values.count.isMultiple(of: 2) ? (values[middle - 1] + values[middle]) / 2 : values[middle]
    }
}
