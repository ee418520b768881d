internal import JSON
internal import Push

/// What happens in the demonstration: the n-th event, always the same for the same seed.
///
/// So nobody has to remember what was published: a device's message is compared with what its event's number says that it must be.
package struct Script: Sendable {
    let population: Population
    private let seed: UInt64

    /// - Parameters:
    ///   - population: whom it happens to.
    ///   - seed: another one makes other events, with other ids.
    package init(_ population: Population, seed: UInt64) {
        self.population = population
        self.seed = seed
    }

    /// Whom the event happens to, and what it is.
    func event(_ number: Int) -> (user: Int, kind: EventKind) {
        let random = mix(seed &+ UInt64(truncatingIfNeeded: number))
        let user = Int(random >> 16) % population.userCount
        let kind: EventKind =
            switch random % 10 {
            case 0..<5: .issued
            case 5..<8: .dispensed
            default: .message
            }
        return (user, kind)
    }

    /// The devices of its user that the event is owed to, as bits.
    func owed(_ number: Int) -> UInt8 {
        let event = event(number)
        return population.owed(event.kind, to: event.user)
    }

    /// What the devices are to show.
    func content(_ number: Int) -> [UInt8] {
        let kind = event(number).kind
        var writer = Writer()
        writer.object { writer in
            writer.member("title", kind.title)
            writer.member("body", kind.body(number))
            writer.member("event", number)
        }
        return writer.bytes
    }

    /// The event as a structured CloudEvent, a line of `posthorn publish`.
    func line(_ number: Int, now: Timestamp) -> [UInt8] {
        let event = event(number)
        var writer = Writer()
        writer.object { writer in
            writer.member("specversion", "1.0")
            writer.member("id", "\(number)")
            writer.member("source", "urn:example:prescriptions:\(String(seed, radix: 16))")
            writer.member("type", event.kind.type)
            writer.member("subject", population.name(ofUser: event.user))
            writer.member("time", now.rfc3339)
            writer.member("data", raw: content(number))
        }
        return writer.bytes
    }

    /// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (SplitMix64).
    private func mix(_ value: UInt64) -> UInt64 {
        var value = value &* 0x9E37_79B9_7F4A_7C15
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return (value ^ (value >> 31)) >> 1
    }
}

/// A content as a device reads it.
struct Message: Sendable {
    var title = ""
    var body = ""
    /// The number of its event.
    var event: Int

    /// nil if it is none of the demonstration's.
    init?(_ content: [UInt8]) {
        var title = ""
        var body = ""
        var event: Int64?
        do throws(ReadError) {
            try Reader.read(content) { reader throws(ReadError) in
                try reader.readObject { name, reader throws(ReadError) in
                    switch name {
                    case "title": title = try reader.readString()
                    case "body": body = try reader.readString()
                    case "event": event = try reader.readInt64(in: 0...Int64(Int32.max))
                    default: break
                    }
                }
            }
        } catch {
            return nil
        }
        guard let event else { return nil }
        self.title = title
        self.body = body
        self.event = Int(event)
    }
}
