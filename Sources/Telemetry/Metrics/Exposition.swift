/// The text that Prometheus reads, while it is written.
///
/// Source: Prometheus, Exposition formats, text format 0.0.4.
package struct Exposition: Sendable {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    package enum Kind: String, Sendable {
        case counter
        case gauge
        case histogram
    }

    var text: [UInt8] = []

    init() {}

    /// Begins a family; its samples follow at once, and none of another name in between.
    package mutating func family(_ name: String, help: String, kind: Kind) {
        text += "# HELP \(name) ".utf8
        text.appendEscaped(help, quotes: false)
        text += "\n# TYPE \(name) \(kind.rawValue)\n".utf8
    }

    package mutating func sample(_ name: String, labels: Labels = [:], _ value: Double) {
        text += labels.head(of: name)
        text.appendNumber(value)
        text.append(UInt8(ascii: "\n"))
    }

    /// A family of one sample without labels.
    package mutating func single(_ name: String, help: String, kind: Kind, _ value: Double) {
        family(name, help: help, kind: kind)
        sample(name, value)
    }
}
