/// How many messages were taken and how many keys rejected: of one answer, of the last minutes, or of weeks.
///
/// Fractions, because older answers fade (``halve(over:halfLife:)``).
package struct AnswerShare: Hashable, Sendable {
    package var accepted: Double
    package var rejected: Double

    package init(accepted: Double = 0, rejected: Double = 0) {
        self.accepted = accepted
        self.rejected = rejected
    }

    package var total: Double { accepted + rejected }

    /// The share of rejections, from 0 to 1; 0 if there is nothing to share.
    package var dead: Double { total > 0 ? rejected / total : 0 }

    /// Lets what was counted fade: to a half after `halfLife`, to a quarter after two.
    ///
    /// Between the halves it is a straight line, which is near enough and needs no library.
    mutating func halve(over time: Duration, halfLife: Duration) {
        let halves = max(time / halfLife, 0)
        guard halves < 64 else {
            self = AnswerShare()
            return
        }
        let factor = (1 - (halves - halves.rounded(.down)) / 2) / Double(1 << Int64(halves.rounded(.down)))
        accepted *= factor
        rejected *= factor
    }
}
