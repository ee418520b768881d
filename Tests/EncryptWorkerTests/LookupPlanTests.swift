import Postgres
import Schema
import Support
import Testing

@testable import EncryptWorker

/// The batch lookup reads pushers by one index path, as it must when there are a hundred million of them.
@Suite struct LookupPlanTests {
    @Test func `a batch of a thousand reads pushers by the index on the user alone`() throws {
        var connection = try Connection(connectingTo: Configuration(PostgresService.freshDatabase()))
        _ = try Migrator().apply(to: &connection)
        try connection.executeScript(
            """
            INSERT INTO gateways (origin) VALUES ('https://gateway.example');
            INSERT INTO channels (channel_id, default_status) SELECT 'channel-' || n, 'enabled' FROM generate_series(1, 20) n;
            INSERT INTO trigger_types SELECT 'type-' || n, 'channel-' || n FROM generate_series(1, 20) n;
            INSERT INTO pushers (user_id, app_id, pushkey, app_display_name, device_display_name, lang, url, gateway_origin)
            SELECT 'user-' || n / 2, 'de.example.app', 'key-' || n, 'App', 'Phone', 'de', 'https://gateway.example/push/v1/',
                'https://gateway.example'
            FROM generate_series(1, 50000) n;
            ANALYZE;
            """
        )
        let plan = try explain(&connection)
        let onPushers = plan.filter { $0.contains(" on pushers") || $0.contains("pushers_") }
        #expect(!onPushers.isEmpty, "\(plan)")
        for line in onPushers {
            #expect(
                line.contains("Index Scan using pushers_pkey on pushers")
                    || line.contains("Index Scan using pushers_one_per_app_and_pushkey on pushers"),
                "\(plan.joined(separator: "\n"))"
            )
        }
        #expect(
            plan.contains {
                $0.contains("Index Cond: (pushers.user_id = ") || $0.contains("Index Cond: (user_id = ")
            }
        )
    }

    private func explain(_ connection: inout Connection) throws -> [String] {
        let indices = 0..<1000
        let rows = try connection.query(
            "EXPLAIN " + SubscriptionLookup.statement,
            [
                .array(ArrayParameter(text: indices.map { "user-\($0 * 20)" })),
                .array(ArrayParameter(text: indices.map { $0 % 2 == 0 ? nil : "channel-\($0 % 20 + 1)" })),
                .array(ArrayParameter(text: indices.map { "type-\($0 % 20 + 1)" })),
                .text("Europe/Berlin"),
            ]
        )
        return try (0..<rows.count).map { try rows.text($0, 0) }
    }
}
