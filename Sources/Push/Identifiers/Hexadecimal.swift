/// Hexadecimal digits in ASCII.
enum Hexadecimal {
    /// The value of one digit of either case; nil for any other byte.
    static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The eight lower-case digits of a word, the first one in the highest byte; all at once.
    static func digits(_ word: UInt32) -> UInt64 {
        // One nibble to a byte, by halves.
        var nibbles = UInt64(word)
        nibbles = (nibbles & 0xFFFF_0000) << 16 | nibbles & 0xFFFF
        nibbles = (nibbles & 0x0000_FF00_0000_FF00) << 8 | nibbles & 0x0000_00FF_0000_00FF
        nibbles = (nibbles & 0x00F0_00F0_00F0_00F0) << 4 | nibbles & 0x000F_000F_000F_000F
        // 10 to 15 carry into the next four bits with 6 added, and are letters: 39 further on than digits.
        let letters = (nibbles &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return nibbles &+ 0x3030_3030_3030_3030 &+ letters &* 39
    }

    /// The word that eight digits of either case spell, the first one in the highest byte; nil if one of them is none.
    static func value(_ digits: UInt64) -> UInt32? {
        // Letters have the bit 0x40, and their last four bits are 9 short of what they mean.
        var nibbles = digits & 0x0F0F_0F0F_0F0F_0F0F &+ (digits >> 6 & 0x0101_0101_0101_0101) &* 9
        nibbles &= 0x0F0F_0F0F_0F0F_0F0F
        nibbles = (nibbles | nibbles >> 4) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles | nibbles >> 8) & 0x0000_FFFF_0000_FFFF
        let word = UInt32(truncatingIfNeeded: nibbles | nibbles >> 16)
        // Whatever was no digit is written otherwise than it was read.
        let lowerCase = digits | digits >> 1 & 0x2020_2020_2020_2020
        return Self.digits(word) == lowerCase ? word : nil
    }
}
