internal import Push

/// Registrations in the order in which they came, reduced to what remains of them in the end.
///
/// Of several about one user, app and pushkey the last one counts, and one that does not append wins over all that came before for its
/// device. So each device is written once, by statements over the whole batch, with the same result as one after the other.
struct RegistrationBatch {
    /// One pusher to be written.
    struct Registration {
        let user: String
        let pusher: PusherRegistration
        let channels: [ImportLine.ChannelSetting]
    }

    /// What remains to be done about one app's pushkey.
    struct Device {
        let address: PusherAddress
        let bucket: Int32
        /// Pushers of all users but those in `changes` go.
        var clearsOthers = false
        /// By user; nil removes.
        var changes: [String: Registration?] = [:]
    }

    /// In the order in which they were first named.
    private(set) var devices: [Device] = []
    private var places: [DeviceKey: Int] = [:]
    /// How many registrations and removals were appended.
    private(set) var count = 0

    mutating func removeAll() {
        devices.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
        count = 0
    }

    mutating func append(_ line: ImportLine) {
        count += 1
        switch line.command {
        case .set(let pusher):
            let place = place(of: pusher.address)
            if !pusher.append {
                devices[place].clearsOthers = true
                devices[place].changes.removeAll()
            }
            devices[place].changes[line.user] = .some(
                Registration(user: line.user, pusher: pusher, channels: line.channels)
            )
        case .remove(let address):
            devices[place(of: address)].changes[line.user] = .some(nil)
        }
    }

    private mutating func place(of address: PusherAddress) -> Int {
        let key = DeviceKey(address)
        if let place = places[key] { return place }
        places[key] = devices.count
        devices.append(Device(address: address, bucket: key.bucket))
        return devices.count - 1
    }
}

/// An app's pushkey by its bytes, as the database compares it; Swift's own text takes `é` written in two ways for the same.
private struct DeviceKey: Hashable {
    private let bytes: [UInt8]

    init(_ address: PusherAddress) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(address.appID.utf8.count + address.pushkey.utf8.count + 1)
        bytes.append(contentsOf: address.appID.utf8)
        // No byte of UTF-8.
        bytes.append(0xFF)
        bytes.append(contentsOf: address.pushkey.utf8)
        self.bytes = bytes
    }

    /// Which of ``DeviceLocks``'s locks stands for the device: the same in every version of this program.
    ///
    /// Source: FNV-1a, 64 bits (draft-eastlake-fnv).
    var bucket: Int32 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0100_0000_01b3 }
        return Int32(truncatingIfNeeded: (hash >> 32 ^ hash) % UInt64(DeviceLocks.count))
    }
}
