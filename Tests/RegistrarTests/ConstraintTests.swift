import Postgres
import Registrar
import Support
import Testing

/// The database refuses by itself what the program would never write.
@Suite struct ConstraintTests {
    private static let changes = [
        "user_id = ''", "user_id = repeat('u', 129)", "app_id = ''", "app_id = repeat('ä', 65)",
        "pushkey = ''",
        "pushkey = repeat('ä', 257)", "kind = 'email'", "kind = NULL", "app_display_name = NULL",
        "app_display_name = repeat('x', 1025)", "device_display_name = repeat('x', 1025)",
        "lang = repeat('x', 65)",
        "profile_tag = repeat('x', 257)", "url = 'https://elsewhere.example/push/v1/'",
        "url = 'https://gateway.example.evil.example/push/v1/'",
        "url = 'https://gateway.example/' || repeat('x', 2048)",
        "gateway_origin = 'https://elsewhere.example'",
        "data = repeat('x', 4097)", "key_identifier = ''", "key_identifier = repeat('k', 129)",
        "chain_month = 23999",
        "chain_month = 25200", "chain_month = NULL", "chain_sealed = NULL", "chain_key_id = NULL",
        "chain_sealed = '\\x00'", "chain_key_id = ''", "chain_key_id = repeat('k', 65)",
        "chain_month = NULL, chain_sealed = NULL, chain_key_id = NULL",
        "enabled_channels = array_fill('c'::text, ARRAY[257])",
        "disabled_channels = array_fill('c'::text, ARRAY[257])", "registered_at = NULL",
    ]

    @Test func `no row beyond the limits`() throws {
        let fixture = try RegistrarFixture()
        try fixture.register(Line())
        for change in Self.changes {
            let error = #expect(throws: PostgresError.self, "\(change)") {
                try fixture.connection.execute("UPDATE pushers SET \(change)")
            }
            guard case .constraint? = error?.kind else {
                Issue.record("\(change): \(String(describing: error))")
                continue
            }
        }
    }

    @Test func `no second pusher of the same user, app and pushkey`() throws {
        let fixture = try RegistrarFixture()
        try fixture.register(Line())
        let error = #expect(throws: PostgresError.self) {
            try fixture.connection.execute(
                """
                INSERT INTO pushers (user_id, app_id, pushkey, app_display_name, device_display_name, lang, url, gateway_origin)
                SELECT user_id, app_id, pushkey, app_display_name, device_display_name, lang, url, gateway_origin FROM pushers
                """
            )
        }
        #expect(error?.kind == .constraint(name: "pushers_one_per_app_and_pushkey"))
    }

    @Test(arguments: [
        "('gateway.example', false, false)", "('https://a.example/path', false, false)",
        "('http://a.example', true, false)", "('https://a.example', false, true)",
        "('https://a@b.example', false, false)",
    ])
    func `no gateway that the rules forbid`(values: String) throws {
        let fixture = try RegistrarFixture()
        #expect(throws: PostgresError.self) {
            try fixture.connection.execute(
                "INSERT INTO gateways (origin, allow_private, insecure) VALUES \(values)"
            )
        }
    }
}
