import KeyChains
import LocalServices
import Postgres
import Push
import Registrar
import Schema
import Sealing
import Support

/// A database of a test's own with two gateways and two channels, in October 2026, and a key file.
final class RegistrarFixture {
    static let month = Month("2026-10")!

    let url: String
    let folder: TemporaryFolder
    var connection: Connection

    var keyFile: String { "\(folder.path)/keys" }

    init() throws {
        url = try PostgresService.freshDatabase()
        folder = try TemporaryFolder()
        connection = try Connection(connectingTo: Configuration(url))
        _ = try Migrator().apply(to: &connection)
        _ = try KeyFile.generate("\(folder.path)/keys", id: "first")
        try setMonth(Self.month)
        try connection.executeScript(
            """
            INSERT INTO gateways (origin, dialect, allow_private, insecure) VALUES
                ('https://gateway.example', 'gematik-1.2', false, false), ('https://old.example', 'concept-2024', false, false),
                ('http://127.0.0.1:8080', 'gematik-1.2', true, true);
            INSERT INTO channels (channel_id, default_status) VALUES ('news', 'not_set'), ('alerts', 'enabled');
            """
        )
    }

    /// A second session.
    func anotherConnection() throws -> Connection { try Connection(connectingTo: Configuration(url)) }

    func setMonth(_ month: Month) throws {
        try connection.executeScript(
            "CREATE OR REPLACE FUNCTION current_month(zone text) RETURNS integer LANGUAGE sql STABLE RETURN \(month.ordinal)"
        )
    }

    func newImport() throws -> PusherImport {
        try PusherImport(
            check: RegistrationCheck(from: &connection, zone: "Europe/Berlin", encryption: .optional),
            keys: KeyFile.read(keyFile)
        )
    }

    /// Imports lines as one batch.
    @discardableResult
    func register(_ lines: Line...) throws -> ImportTally { try register(lines) }

    @discardableResult
    func register(_ lines: [Line]) throws -> ImportTally {
        var work = try newImport()
        for line in lines { try work.append(line.bytes) }
        try work.flush(to: &connection)
        return work.tally
    }

    func integer(_ sql: String) throws -> Int64 { try connection.query(sql).int8(0, 0) }

    /// Who has which pushkey, in order: `user app pushkey`.
    func pushers() throws -> [String] {
        let rows = try connection.query(
            "SELECT concat_ws(' ', user_id, app_id, pushkey) AS line FROM pushers ORDER BY user_id, app_id, pushkey"
        )
        return try (0..<rows.count).map { try rows.text($0, 0) }
    }

    /// A stored row, as far as tests look at it.
    struct Stored {
        let pusher: PusherID
        let keyIdentifier: String?
        let month: Month?
        let keyID: String?
        let sealed: [UInt8]?
        let enabled: [String]
        let disabled: [String]
        let registered: Int64
        let data: String?
        let url: String
    }

    func stored(_ user: String) throws -> Stored {
        let rows = try connection.query(
            """
            SELECT pusher_id, key_identifier, chain_month, chain_key_id, chain_sealed, enabled_channels,
                disabled_channels, registered_at, data, url
            FROM pushers WHERE user_id = $1
            """,
            [.text(user)]
        )
        let id = try rows.uuid(0, 0)
        return Stored(
            pusher: PusherID(bytes: id.span)!,
            keyIdentifier: try rows.textIfPresent(0, 1),
            month: try rows.int4IfPresent(0, 2).flatMap { Month(ordinal: $0) },
            keyID: try rows.textIfPresent(0, 3),
            sealed: try rows.byteaIfPresent(0, 4),
            enabled: (try rows.textArray(0, 5) ?? []).compactMap { $0 },
            disabled: (try rows.textArray(0, 6) ?? []).compactMap { $0 },
            registered: try rows.timestampMilliseconds(0, 7),
            data: try rows.textIfPresent(0, 8),
            url: try rows.text(0, 9)
        )
    }

    /// The stored chain, opened: secret and key.
    func open(_ stored: Stored) throws -> [UInt8] {
        var chains = try ChainSeal(ring: try KeyFile.read(keyFile))
        var material = [UInt8](repeating: 0, count: ChainSeal.materialLength)
        var span = material.mutableSpan
        try chains.open(
            stored.sealed!.span,
            under: stored.keyID!,
            bound: ChainBinding(stored.pusher, stored.month!),
            into: &span
        )
        return material
    }

    /// What the first generation from `iss` in `month` must be.
    static func firstGeneration(_ iss: UInt8, _ month: Month) throws -> [UInt8] {
        var deriver = try ChainDeriver()
        let bytes = [UInt8](repeating: iss, count: 32)
        let generation = try KeyGeneration(
            initialSecret: InitialSecret(bytes: bytes.span)!,
            month: month,
            using: &deriver
        )
        return generation.withMaterial { material in
            var bytes: [UInt8] = []
            for index in 0..<material.count { bytes.append(material[index]) }
            return bytes
        }
    }
}

/// A line of an import, sound unless a test makes it otherwise.
struct Line {
    var user = "A123456789"
    var app = "de.example.app.apns"
    var pushkey = "pushkey-1"
    var url = "https://gateway.example/push/v1/"
    /// Every byte of the initial secret; nil for a pusher without keys.
    var iss: UInt8? = 1
    var month = "2026-10"
    var keyIdentifier: String? = "key-1"
    var append: Bool?
    var isRemoval = false
    /// The members of `channels`.
    var channels = #""news":"enabled""#
    /// Stands behind the other members of `pusher`.
    var extra = ""

    var text: String {
        if isRemoval {
            return #"{"user":"\#(user)","pusher":{"kind":null,"app_id":"\#(app)","pushkey":"\#(pushkey)"}}"#
        }
        var pusher = #""kind":"http","app_id":"\#(app)","pushkey":"\#(pushkey)","app_display_name":"App","#
        pusher += #""device_display_name":"Phone","lang":"de","data":{"url":"\#(url)","custom":[1,2]}"#
        if let iss {
            let hex = String(
                repeating: iss < 16 ? "0\(String(iss, radix: 16))" : String(iss, radix: 16),
                count: 32
            )
            pusher +=
                #","encryption":{"method":"aes-hmac-sha256","time_iss_created":"\#(month)","iss":"\#(hex)""#
            if let keyIdentifier { pusher += #","key_identifier":"\#(keyIdentifier)""# }
            pusher += "}"
        }
        if let append { pusher += #","append":\#(append)"# }
        pusher += extra
        return #"{"user":"\#(user)","pusher":{\#(pusher)},"channels":{\#(channels)}}"#
    }

    var bytes: [UInt8] { Array(text.utf8) }
}
