internal import JSON
package import Push
package import Sealing

/// The users of the demonstration and their devices; every third user has two.
///
/// Users and devices are known by their numbers, from 0. The devices of a user have consecutive numbers, so that which of them an event is
/// owed to fits into the bits of a byte.
package struct Population: Sendable {
    /// A device as it registered; its secret is made for one demonstration and goes with it.
    struct Device: Sendable {
        let user: Int
        let name: String
        let appID: String
        let pushkey: String
        let keyIdentifier: String
        /// 32 bytes.
        let secret: [UInt8]
        /// When the secret was made: this month or one of the two before, so that the worker has chains to move.
        let month: Month
    }

    let devices: [Device]
    /// The first device of each user.
    private let firstDevices: [Int]
    private let numbers: [String: Int]

    /// - Parameters:
    ///   - count: devices, from 1.
    ///   - month: the current one, by the database's clock.
    /// - Throws: ``SealingError`` when there is no randomness.
    package init(devices count: Int, month: Month) throws(SealingError) {
        var random = RandomSource()
        var devices: [Device] = []
        var firstDevices: [Int] = []
        while devices.count < count {
            firstDevices.append(devices.count)
            let own = min(firstDevices.count % 3 == 0 ? 2 : 1, count - devices.count)
            for _ in 0..<own {
                devices.append(try Self.device(devices.count, of: firstDevices.count - 1, month, &random))
            }
        }
        self.devices = devices
        self.firstDevices = firstDevices
        numbers = Dictionary(
            devices.enumerated().map { ($0.element.pushkey, $0.offset) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    private static func device(
        _ index: Int,
        of user: Int,
        _ month: Month,
        _ random: inout RandomSource
    ) throws(SealingError) -> Device {
        var token: [UInt8] = []
        var identifier: [UInt8] = []
        var secret: [UInt8] = []
        try random.append(32, to: &token)
        try random.append(8, to: &identifier)
        try random.append(InitialSecret.byteCount, to: &secret)
        let isPhone = index % 2 == 0
        return Device(
            user: user,
            name: isPhone ? "phone" : "tablet",
            appID: isPhone ? "example.prescriptions.ios" : "example.prescriptions.android",
            pushkey: Hex.text(token.span),
            keyIdentifier: Hex.text(identifier.span),
            secret: secret,
            month: month - index % 3
        )
    }

    var userCount: Int { firstDevices.count }

    func name(ofUser user: Int) -> String {
        let digits = String(user)
        return "X" + String(repeating: "0", count: max(0, 9 - digits.utf8.count)) + digits
    }

    func devices(ofUser user: Int) -> Range<Int> {
        let next = user + 1
        return firstDevices[user]..<(next < firstDevices.count ? firstDevices[next] : devices.count)
    }

    /// The device with that pushkey.
    func device(pushkey: String) -> Int? { numbers[pushkey] }

    /// Which devices of `user` are to be told of an event of that kind: bit n stands for the user's n-th device.
    func owed(_ kind: EventKind, to user: Int) -> UInt8 {
        let own = devices(ofUser: user)
        var bits: UInt8 = 0
        for index in own where kind.isWanted(byDevice: index) { bits |= 1 << UInt8(index - own.lowerBound) }
        return bits
    }

    /// The line of `pushers import` that registers a device.
    ///
    /// - Parameters:
    ///   - index: the device's number.
    ///   - gateway: its `data.url`.
    /// - Returns: one JSON object.
    package func importLine(ofDevice index: Int, gateway: String) -> [UInt8] {
        let device = devices[index]
        var writer = Writer()
        writer.object { writer in
            writer.member("user", name(ofUser: device.user))
            writer.name("pusher")
            writer.object { writer in
                writer.member("kind", "http")
                writer.member("app_id", device.appID)
                writer.member("pushkey", device.pushkey)
                writer.member("app_display_name", "Prescriptions")
                writer.member("device_display_name", device.name)
                writer.member("lang", "en")
                writer.name("data")
                writer.object { $0.member("url", gateway) }
                writer.name("encryption")
                writer.object { writer in
                    writer.member("method", RegisteredKeys.method)
                    writer.member("iss", Hex.text(device.secret.span))
                    writer.member("time_iss_created", device.month.description)
                    writer.member("key_identifier", device.keyIdentifier)
                }
            }
            writer.name("channels")
            writer.object { writer in
                for kind in EventKind.allCases {
                    guard let choice = kind.choice(ofDevice: index) else { continue }
                    writer.name(escaping: kind.channel)
                    writer.string(choice.rawValue)
                }
            }
        }
        return writer.bytes
    }
}
