/// The word that was probably meant.
enum Nearest {
    /// The candidate with the fewest slips to `word`, if they are few for its length; the first of equals.
    static func candidate(to word: String, among candidates: some Sequence<String>) -> String? {
        let typed = Array(word.lowercased().unicodeScalars.prefix(64))
        guard !typed.isEmpty else { return nil }
        let limit = max(1, typed.count / 3)
        var best: (word: String, distance: Int)?
        for candidate in candidates {
            let known = Array(candidate.lowercased().unicodeScalars.prefix(64))
            var distance = slips(typed, known)
            // A beginning is a shorter way to write the whole, unless it is next to nothing.
            if typed.count >= 3, known.starts(with: typed) { distance = min(distance, 1) }
            if distance <= limit, distance < (best?.distance ?? .max) { best = (candidate, distance) }
        }
        return best?.word
    }

    /// A question to append to a complaint, or nothing.
    static func hint(for word: String, among candidates: some Sequence<String>) -> String {
        candidate(to: word, among: candidates).map { "; did you mean \($0)?" } ?? ""
    }

    /// Insertions, removals, replacements and swaps of neighbours between two words (optimal string alignment).
    static func slips(_ one: [Unicode.Scalar], _ other: [Unicode.Scalar]) -> Int {
        if one.isEmpty || other.isEmpty { return max(one.count, other.count) }
        var beforeLast: [Int] = []
        var last = Array(0...other.count)
        for row in 1...one.count {
            var current = [row] + Array(repeating: 0, count: other.count)
            for column in 1...other.count {
                let replaced = last[column - 1] + (one[row - 1] == other[column - 1] ? 0 : 1)
                current[column] = min(last[column] + 1, current[column - 1] + 1, replaced)
                if row > 1, column > 1, one[row - 1] == other[column - 2], one[row - 2] == other[column - 1] {
                    current[column] = min(current[column], beforeLast[column - 2] + 1)
                }
            }
            beforeLast = last
            last = current
        }
        return last[other.count]
    }
}
