internal import Postgres
internal import Push

/// Gives a device that comes back after its pusher was removed for a rejection the channel settings that it had.
///
/// Push services give a device a new key now and then, and an app that learns of it late registers anew, for a user who never changed a thing. Known
/// again by the same pushkey, or as the user's device of the same name in the same app; each record serves once, and only a registration
/// that brings no settings of its own takes them.
enum ChannelRestoration {
    /// $1 user ids, $2 pusher ids.
    private static let statement = """
        WITH new AS MATERIALIZED (
            SELECT p.* FROM unnest($1::text[], $2::uuid[]) AS n (user_id, pusher_id)
            JOIN pushers p USING (user_id, pusher_id)
        ), found AS MATERIALIZED (
            SELECT DISTINCT ON (r.user_id, r.pusher_id) r.user_id, r.pusher_id AS old_id, n.pusher_id AS new_id,
                r.enabled_channels, r.disabled_channels, r.removed_at
            FROM new n JOIN pusher_removals r ON r.user_id = n.user_id AND r.app_id = n.app_id
            WHERE r.restored_at IS NULL AND (
                r.pushkey_digest = sha256(r.pushkey_salt || convert_to(n.pushkey, 'UTF8'))
                OR r.device_display_name = n.device_display_name
            )
            ORDER BY r.user_id, r.pusher_id, n.pusher_id
        ), taken AS MATERIALIZED (
            SELECT DISTINCT ON (f.new_id) f.* FROM found f ORDER BY f.new_id, f.removed_at DESC
        ), marked AS (
            UPDATE pusher_removals r SET restored_at = now() FROM taken t
            WHERE r.user_id = t.user_id AND r.pusher_id = t.old_id
        )
        UPDATE pushers p SET enabled_channels = t.enabled_channels, disabled_channels = t.disabled_channels
        FROM taken t WHERE p.user_id = t.user_id AND p.pusher_id = t.new_id
        """

    /// Restores what is known of pushers that this transaction has made.
    static func restore(
        _ made: [(user: String, pusher: PusherID)],
        on connection: inout Connection
    ) throws(PostgresError) {
        guard !made.isEmpty else { return }
        var users = ArrayParameter(of: .text)
        var pushers = ArrayParameter(of: .uuid)
        for (user, pusher) in made {
            users.append(text: user)
            pushers.append(pusher)
        }
        try connection.execute(statement, [.array(users), .array(pushers)])
    }
}
