/// The words behind a command's name, sorted into options and positional arguments; nothing is interpreted yet.
///
/// `--name=value`, `--name value`, `--no-flag`, `-n value`, `-nvalue`; flags written together, `-ab`. A word that begins with `--` is never
/// taken for the value of the option before it. `--` ends the options; `-` alone is an argument.
struct ArgumentList {
    /// What was given for each option, by long name, in the order given.
    private(set) var given: [String: [String]] = [:]
    private(set) var positional: [String] = []
    private(set) var faults: [Fault] = []

    private let options: [Definition]

    init(_ words: [String], options: [Definition]) {
        self.options = options
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                positional += rest
                break
            } else if word.hasPrefix("--") {
                takeLong(word.dropFirst(2), &rest)
            } else if word.hasPrefix("-"), word != "-" {
                takeShort(word.dropFirst(), &rest)
            } else {
                positional.append(word)
            }
        }
    }

    private mutating func takeLong(_ word: Substring, _ rest: inout ArraySlice<String>) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        let attached = parts.count > 1 ? String(parts[1]) : nil
        if let option = options.first(where: { $0.name == name }) {
            take(option, attached: attached, &rest)
        } else if name.hasPrefix("no-"), attached == nil,
            let flag = options.first(where: { $0.name == name.dropFirst(3) && $0.form == .flag })
        {
            given[flag.name, default: []].append("false")
        } else {
            let hint = Nearest.hint(for: "--\(name)", among: options.lazy.map { "--\($0.name)" })
            faults.append(Fault("--\(name)".bounded, from: .argument, "there is no such option\(hint)"))
        }
    }

    private mutating func takeShort(_ word: Substring, _ rest: inout ArraySlice<String>) {
        var letters = word
        while let letter = letters.popFirst() {
            guard let option = options.first(where: { $0.short == letter }) else {
                faults.append(Fault("-\(letter)".bounded, from: .argument, "there is no such option"))
                return
            }
            if option.form == .flag {
                given[option.name, default: []].append("true")
                continue
            }
            let attached =
                letters.isEmpty ? nil : String(letters.first == "=" ? letters.dropFirst() : letters)
            return take(option, attached: attached, &rest)
        }
    }

    private mutating func take(_ option: Definition, attached: String?, _ rest: inout ArraySlice<String>) {
        if let attached {
            given[option.name, default: []].append(attached)
        } else if option.form == .flag {
            given[option.name, default: []].append("true")
        } else if let next = rest.first, !next.hasPrefix("--") {
            rest.removeFirst()
            given[option.name, default: []].append(next)
        } else {
            faults.append(Fault(option.title, from: .argument, "needs a value: \(option.expectation)"))
        }
    }
}

extension String {
    /// Fit to stand in a message as it is, without quotes.
    fileprivate var bounded: String { String(quoted(self).dropFirst().dropLast()) }
}
