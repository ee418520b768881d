/// One thing that is wrong with what was given.
package struct Fault: Sendable, Equatable {
    /// Where a value came from.
    package enum Source: Sendable, Equatable {
        case argument
        case environment(name: String)
        case file(path: String, line: Int)
        /// Nowhere: it is missing, and could have come from any place.
        case absent
    }

    /// What is wrong: `--lanes`, `FILE`, or a whole file.
    package let subject: String
    package let source: Source
    /// What is wrong with it, with what would be right; no value of a secret.
    package let complaint: String

    package init(_ subject: String, from source: Source, _ complaint: String) {
        self.subject = subject
        self.source = source
        self.complaint = complaint
    }
}

extension Fault: CustomStringConvertible {
    package var description: String {
        switch source {
        case .argument, .absent: "\(subject): \(complaint)"
        case .environment(let name): "\(subject), from \(name): \(complaint)"
        case .file(let path, let line): "\(subject), from \(path) line \(line): \(complaint)"
        }
    }
}

/// Everything that is wrong, at once; never empty.
package struct SettingsError: Error, Sendable, Equatable {
    package let faults: [Fault]

    package init(_ faults: [Fault]) {
        self.faults = faults
    }

    /// Whether the command line is at fault and nothing around it (exit code 64), or the surroundings are as well (78).
    ///
    /// What is missing can still come from anywhere, so beside a fault of the command line it does not count.
    package var isUsage: Bool {
        faults.contains { $0.source == .argument }
            && faults.allSatisfy { $0.source == .argument || $0.source == .absent }
    }
}

extension SettingsError: CustomStringConvertible {
    package var description: String {
        if faults.count == 1 { return faults[0].description }
        return "\(faults.count) faults:\n" + faults.map { "  \($0)" }.joined(separator: "\n")
    }
}

/// Text from outside, made fit to stand in a message: bounded, and without control characters.
func quoted(_ text: String) -> String {
    var result = "'"
    for (index, scalar) in text.unicodeScalars.enumerated() {
        if index == 64 { return result + "…'" }
        let isControl =
            scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
        result += isControl ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
    }
    return result + "'"
}
