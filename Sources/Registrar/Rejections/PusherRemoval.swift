internal import Postgres
internal import Push

/// Deletes pushers with their keys, and leaves a record of who did it and why.
///
/// The record has the pushkey as a salted digest: enough to know the device again should it register anew, and nothing to send to.
struct PusherRemoval {
    /// Why a pusher was removed.
    enum Reason: String {
        /// Its gateway rejected the key.
        case rejected
        /// As often as the gateway's entry asks.
        case confirmed
        /// An operator let a held rejection pass.
        case applied
    }

    /// $1 user ids, $2 pusher ids, $3 reasons, $4 notifications, $5 rejections' times, $6 who, $7 when.
    ///
    /// The rows are locked by this transaction already.
    private static let statement = """
        WITH named AS MATERIALIZED (
            SELECT r.*, uuid_send(gen_random_uuid()) AS salt
            FROM unnest($1::text[], $2::uuid[], $3::text[], $4::uuid[], $5::timestamptz[])
                AS r (user_id, pusher_id, reason, notification_id, rejected_at)
        ), gone AS (
            DELETE FROM pushers p USING named n WHERE p.user_id = n.user_id AND p.pusher_id = n.pusher_id
            RETURNING p.user_id, p.pusher_id, p.app_id, p.gateway_origin, p.device_display_name, n.salt,
                sha256(n.salt || convert_to(p.pushkey, 'UTF8')) AS digest, p.enabled_channels, p.disabled_channels,
                p.registered_at, n.reason, n.notification_id, n.rejected_at
        )
        INSERT INTO pusher_removals (
            user_id, pusher_id, app_id, gateway_origin, device_display_name, pushkey_salt, pushkey_digest,
            enabled_channels, disabled_channels, registered_at, reason, notification_id, rejected_at, removed_at,
            removed_by
        ) SELECT *, $7::timestamptz, $6::text FROM gone
        """

    private var users = ArrayParameter(of: .text)
    private var pushers = ArrayParameter(of: .uuid)
    private var reasons = ArrayParameter(of: .text)
    private var notifications = ArrayParameter(of: .uuid)
    private var times = ArrayParameter(of: .timestamptz)

    var count: Int { users.count }

    mutating func append(
        user: [UInt8],
        _ pusher: PusherID,
        _ reason: Reason,
        _ notification: [UInt8],
        rejectedAt: Timestamp
    ) {
        users.append(text: user.span)
        pushers.append(pusher)
        reasons.append(text: reason.rawValue)
        notifications.append(uuid: notification.span)
        times.append(timestampMilliseconds: rejectedAt.milliseconds)
    }

    /// - Returns: how many there were.
    func run(by who: String, at now: Timestamp, on connection: inout Connection) throws(PostgresError) -> Int
    {
        guard count > 0 else { return 0 }
        var parameters = Parameters()
        for column in [users, pushers, reasons, notifications, times] { parameters.append(column) }
        parameters.append(text: who)
        parameters.append(timestampMilliseconds: now.milliseconds)
        return try connection.execute(Self.statement, parameters)
    }
}

extension ArrayParameter {
    mutating func append(_ pusher: PusherID) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        pusher.uuid.appendBytes(to: &bytes)
        append(uuid: bytes.span)
    }
}
