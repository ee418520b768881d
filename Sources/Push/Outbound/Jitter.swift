/// The source of chance for pauses: small, seeded, the same again for the same seed.
///
/// Not for secrets. Every lane gets a seed of its own, so that lanes which failed together do not come back together.
///
/// Source: SplitMix64, Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
package struct Jitter: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to but not including 1.
    package mutating func unit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// A pause between half of `duration` and all of it.
    package mutating func upperHalf(of duration: Duration) -> Duration {
        duration * (0.5 + 0.5 * unit())
    }

    /// A pause from `duration` up to `share` more, never less: for what others asked us to wait.
    package mutating func stretched(_ duration: Duration, by share: Double) -> Duration {
        duration * (1 + share * unit())
    }
}
