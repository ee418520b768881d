internal import Synchronization

/// All metrics of a process, rendered for Prometheus on request.
///
/// A metric is made once, kept by who updates it, and updated without a lock; making the same name and labels again gives the same object, so lanes share
/// what they count. Labels must come from a bounded set: beyond ``seriesLimit`` series of one name all go to one whose labels read `other`.
package final class Registry: Sendable {
    private let families = Mutex<[Family]>([])
    private let collectors = Mutex<[@Sendable (inout Exposition) -> Void]>([])

    /// Series that one name may have; a gateway or an app per label value stays far below.
    package static let seriesLimit = 1000

    package init() {}

    package func counter(_ name: String, help: String, labels: Labels = [:]) -> Counter {
        let series = series(name, help: help, kind: .counter, labels: labels) {
            .counter(Counter(name: name, labels: $0))
        }
        guard case .counter(let counter) = series else { preconditionFailure("\(name) is no counter") }
        return counter
    }

    package func gauge(_ name: String, help: String, labels: Labels = [:]) -> Gauge {
        let series = series(name, help: help, kind: .gauge, labels: labels) {
            .gauge(Gauge(name: name, labels: $0))
        }
        guard case .gauge(let gauge) = series else { preconditionFailure("\(name) is no gauge") }
        return gauge
    }

    package func histogram(
        _ name: String,
        help: String,
        buckets: [Double] = Buckets.seconds,
        labels: Labels = [:]
    ) -> Histogram {
        let series = series(name, help: help, kind: .histogram, labels: labels) {
            .histogram(Histogram(name: name, labels: $0, bounds: buckets))
        }
        guard case .histogram(let histogram) = series else { preconditionFailure("\(name) is no histogram") }
        return histogram
    }

    /// Adds metrics that are read when asked for, such as the memory of the process.
    package func collect(_ collector: @escaping @Sendable (inout Exposition) -> Void) {
        collectors.withLock { $0.append(collector) }
    }

    /// Everything in the text format 0.0.4, families in the order made.
    package func render() -> [UInt8] {
        var exposition = Exposition()
        for family in families.withLock({ $0 }) {
            exposition.family(family.name, help: family.help, kind: family.kind)
            for series in family.series.values.sorted(by: { $0.order < $1.order }) {
                series.metric.render(into: &exposition.text)
            }
        }
        for collector in collectors.withLock({ $0 }) {
            collector(&exposition)
        }
        return exposition.text
    }

    private func series(
        _ name: String,
        help: String,
        kind: Exposition.Kind,
        labels: Labels,
        make: (Labels) -> Metric
    ) -> Metric {
        precondition(
            name.isMetricName && labels.isValid,
            "\(name) or its labels are not named as Prometheus wants"
        )
        return families.withLock { families in
            let index: Int
            if let known = families.firstIndex(where: { $0.name == name }) {
                index = known
            } else {
                index = families.count
                families.append(Family(name: name, help: help, kind: kind))
            }
            return families[index].metric(labels, make: make)
        }
    }
}

/// The series of one name.
private struct Family: Sendable {
    let name: String
    let help: String
    let kind: Exposition.Kind
    var series: [Labels: (order: Int, metric: Metric)] = [:]

    init(name: String, help: String, kind: Exposition.Kind) {
        self.name = name
        self.help = help
        self.kind = kind
    }

    mutating func metric(_ labels: Labels, make: (Labels) -> Metric) -> Metric {
        if let known = series[labels] { return known.metric }
        let isFull = series.count >= Registry.seriesLimit
        let own = isFull ? labels.overflowing() : labels
        if let known = series[own] { return known.metric }
        let metric = make(own)
        series[own] = (series.count, metric)
        return metric
    }
}

private enum Metric: Sendable {
    case counter(Counter)
    case gauge(Gauge)
    case histogram(Histogram)

    func render(into text: inout [UInt8]) {
        switch self {
        case .counter(let counter): counter.render(into: &text)
        case .gauge(let gauge): gauge.render(into: &text)
        case .histogram(let histogram): histogram.render(into: &text)
        }
    }
}
