/// How many batches may be under way to one destination at once: as many as it stands.
///
/// Grows with success (doubling per round trip until the first overload, by one per round trip afterwards), halves on overload; the same
/// scheme that keeps TCP fair. Invariants:
/// 1. `settings.minimum <= allowance <= settings.maximum`, and departures are only permitted below the allowance.
/// 2. One overload halves once: batches that left before a cut neither cut again nor grow.
/// 3. It grows only when the allowance was used up; an idle destination earns nothing.
package struct InFlightLimit: Sendable {
    package struct Settings: Hashable, Sendable {
        /// The fewest batches in flight, at least 1.
        package var minimum = 1
        /// The most batches in flight.
        package var maximum = 16
        /// Where a new destination starts.
        package var initial = 4

        package init(minimum: Int = 1, maximum: Int = 16, initial: Int = 4) {
            self.minimum = Swift.max(minimum, 1)
            self.maximum = Swift.max(maximum, self.minimum)
            self.initial = Swift.min(Swift.max(initial, self.minimum), self.maximum)
        }
    }

    /// What a batch takes along and brings back.
    package struct Departure: Hashable, Sendable {
        var cut: UInt32
        var wasFull: Bool
    }

    package let settings: Settings
    package private(set) var inFlight = 0
    private var limit: Double
    private var cuts: UInt32 = 0

    package init(_ settings: Settings) {
        self.settings = settings
        limit = Double(settings.initial)
    }

    /// How many may be in flight now.
    package var allowance: Int { Int(limit) }
    package var hasRoom: Bool { inFlight < allowance }

    /// Takes one permit; only called when ``hasRoom``.
    package mutating func depart() -> Departure {
        inFlight += 1
        return Departure(cut: cuts, wasFull: inFlight >= allowance)
    }

    /// Gives the permit back, saying nothing about the destination.
    package mutating func arrive() {
        inFlight = max(inFlight - 1, 0)
    }

    /// The destination took the batch.
    package mutating func succeed(_ departure: Departure) {
        guard departure.cut == cuts, departure.wasFull else { return }
        let growth = cuts == 0 ? 1 : 1 / limit
        limit = min(limit + growth, Double(settings.maximum))
    }

    /// The destination did not manage: timeout, 5xx, 429, a broken connection.
    package mutating func overload(_ departure: Departure) {
        guard departure.cut == cuts else { return }
        cuts &+= 1
        if cuts == 0 { cuts = 1 }
        limit = Double(max(Int(limit / 2), settings.minimum))
    }
}
