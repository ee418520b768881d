internal import Postgres
internal import Push

/// The pushers that there are of a batch's devices, locked until the transaction ends.
struct ExistingPushers {
    struct Row {
        let user: String
        let pusher: PusherID
    }

    /// By the device's place in the batch, then by user.
    private var byDevice: [Int: [String: PusherID]] = [:]

    /// $1 app ids, $2 pushkeys.
    ///
    /// Locked in the order of the primary key, as whoever moves or re-seals chains does.
    private static let statement = """
        SELECT p.user_id, p.pusher_id, (d.position - 1)::int4
        FROM unnest($1, $2) WITH ORDINALITY AS d (app_id, pushkey, position) JOIN pushers p USING (app_id, pushkey)
        ORDER BY p.user_id, p.pusher_id
        FOR UPDATE OF p
        """

    /// Finds and locks them; the devices' locks are held already.
    init(of devices: [RegistrationBatch.Device], on connection: inout Connection) throws(PostgresError) {
        var apps = ArrayParameter(of: .text)
        var pushkeys = ArrayParameter(of: .text)
        for device in devices {
            apps.append(text: device.address.appID)
            pushkeys.append(text: device.address.pushkey)
        }
        let rows = try connection.query(Self.statement, [.array(apps), .array(pushkeys)])
        for row in 0..<rows.count {
            let device = Int(try rows.int4(row, 2))
            byDevice[device, default: [:]][try rows.text(row, 0)] = try PusherID(rows, row, 1)
        }
    }

    /// The pusher of that user on the device.
    func pusher(of user: String, device: Int) -> PusherID? {
        byDevice[device]?[user]
    }

    /// Those that do not remain of a device, by user, in the order of the primary key.
    func leaving(_ devices: [RegistrationBatch.Device]) -> (displaced: [Row], removed: [Row]) {
        var displaced: [Row] = []
        var removed: [Row] = []
        for (place, device) in devices.enumerated() {
            for (user, pusher) in byDevice[place] ?? [:] {
                switch device.changes[user] {
                case .some(.some): continue
                case .some(.none): removed.append(Row(user: user, pusher: pusher))
                case .none:
                    if device.clearsOthers { displaced.append(Row(user: user, pusher: pusher)) }
                }
            }
        }
        return (displaced, removed)
    }
}

extension PusherID {
    /// Reads a column of type uuid.
    init(_ rows: borrowing Rows, _ row: Int, _ column: Int) throws(PostgresError) {
        let bytes = try rows.uuid(row, column)
        guard let pusher = PusherID(bytes: bytes.span) else {
            throw PostgresError(.decoding(column: rows.name(of: column)), "a pusher's id has not 16 bytes")
        }
        self = pusher
    }
}
