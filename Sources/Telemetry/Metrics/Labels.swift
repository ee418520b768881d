/// The labels of one series, in the order they are written.
package struct Labels: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    private var names: [String]
    private var values: [String]

    package init(dictionaryLiteral elements: (String, String)...) {
        names = elements.map(\.0)
        values = elements.map(\.1)
    }

    func adding(_ label: (name: String, value: String)) -> Labels {
        var result = self
        result.names.append(label.name)
        result.values.append(label.value)
        return result
    }

    /// The same names with one value for all that has no series of its own.
    func overflowing() -> Labels {
        var result = self
        result.values = values.map { _ in "other" }
        return result
    }

    var isEmpty: Bool { names.isEmpty }

    /// Whether all names are as Prometheus wants them, and none is there twice.
    var isValid: Bool {
        names.allSatisfy { $0.isMetricName && !$0.contains(":") } && Set(names).count == names.count
    }

    /// The beginning of a sample's line: `name{a="b"} `.
    ///
    /// Source: Prometheus, Exposition formats, text format 0.0.4.
    func head(of name: String) -> [UInt8] {
        var text = Array(name.utf8)
        if !isEmpty {
            text.append(UInt8(ascii: "{"))
            for (index, (name, value)) in zip(names, values).enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                text += "\(name)=\"".utf8
                text.appendEscaped(value, quotes: true)
                text.append(UInt8(ascii: "\""))
            }
            text.append(UInt8(ascii: "}"))
        }
        text.append(UInt8(ascii: " "))
        return text
    }
}

extension String {
    /// Whether it matches `[a-zA-Z_:][a-zA-Z0-9_:]*`.
    var isMetricName: Bool {
        guard let first = utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
            return false
        }
        return utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: ":"): true
            default: false
            }
        }
    }
}

extension [UInt8] {
    /// Backslash and line feed, and double quotes in a label's value, are escaped; nothing else is.
    mutating func appendEscaped(_ value: String, quotes: Bool) {
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): self += "\\\\".utf8
            case UInt8(ascii: "\n"): self += "\\n".utf8
            case UInt8(ascii: "\"") where quotes: self += "\\\"".utf8
            default: append(byte)
            }
        }
    }

    /// A number as Prometheus reads it: whole ones without a fraction, `+Inf`, `-Inf` and `NaN`.
    mutating func appendNumber(_ value: Double) {
        if value.isNaN {
            self += "NaN".utf8
        } else if value.isInfinite {
            self += (value < 0 ? "-Inf" : "+Inf").utf8
        } else if let whole = Int64(exactly: value), abs(value) < 1e15 {
            self += String(whole).utf8
        } else {
            self += value.description.utf8
        }
    }
}
