/// Random numbers that are the same for the same seed, on every machine.
///
/// SplitMix64. Source: Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators (2014).
struct ScriptDice: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mixed(state)
    }

    /// Whether it falls within a share from 0 to 1.
    mutating func falls(within share: Double) -> Bool {
        share >= 1 || (share > 0 && Self.fraction(next()) < share)
    }

    /// Whether a text belongs to a share from 0 to 1; always the same for the same seed.
    static func has(_ text: String, within share: Double, seed: UInt64) -> Bool {
        guard share < 1 else { return true }
        // FNV-1a, then mixed once more, since its high bits are weak for short texts.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return fraction(mixed(hash ^ mixed(seed))) < share
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// From 0 to below 1, of the 53 bits that a double holds.
    private static func fraction(_ value: UInt64) -> Double {
        Double(value >> 11) * 0x1p-53
    }
}
