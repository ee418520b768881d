internal import Postgres
internal import Push
internal import Registrar
internal import Schema
internal import Sealing

/// Fills a database with a population, through the same import that operators use.
struct Seeding {
    let population: Population
    /// All on the list; everybody is at the first.
    let origins: [String]
    let keyFile: String

    private static let zone = "Europe/Berlin"

    func run(_ url: String) throws {
        var connection = try Connection(connectingTo: Postgres.Configuration(url))
        _ = try Migrator().apply(to: &connection)
        for origin in origins {
            let entry = GatewayEntry(
                origin: try GatewayOrigin(origin),
                allowsPrivate: true,
                allowsInsecure: true
            )
            _ = try GatewayDirectory.add(entry, to: &connection)
        }
        var channel = ChannelChange(id: Population.channel)
        channel.triggerTypes = [Population.triggerType]
        _ = try ChannelDirectory.add(channel, to: &connection)
        try importPushers(to: &connection)
        // Fresh statistics, as autovacuum keeps them, and no vacuuming in the middle of a measurement.
        try connection.executeScript("VACUUM (ANALYZE) pushers", timeout: .seconds(120))
        try connection.executeScript("CHECKPOINT", timeout: .seconds(120))
    }

    private func importPushers(to connection: inout Connection) throws {
        let check = try RegistrationCheck(from: &connection, zone: Self.zone, encryption: .required)
        let month = "\(check.rules.currentMonth)"
        var work = try PusherImport(check: check, keys: try KeyFile.read(keyFile))
        for user in 0..<population.users {
            for device in 0..<population.pushersPerUser {
                try work.append(line(user, device, month: month))
                if work.isFull { try work.flush(to: &connection) }
            }
        }
        try work.flush(to: &connection)
    }

    private func line(_ user: Int, _ device: Int, month: String) -> [UInt8] {
        let pushkey = Population.pushkey(user, device)
        let text =
            #"{"user":"\#(Population.user(user))","pusher":{"kind":"http","app_id":"\#(Population.appID)","pushkey":"\#(pushkey)","#
            + #""app_display_name":"E-Rezept","device_display_name":"Telefon","lang":"de","data":{"url":"\#(GatewayRow.url(origins[0]))"},"#
            + #""encryption":{"method":"aes-hmac-sha256","time_iss_created":"\#(month)","iss":"\#(pushkey)","#
            + #""key_identifier":"\#(Population.keyIdentifier(user, device))"}},"channels":{"\#(Population.channel)":"enabled"}}"#
        return Array(text.utf8)
    }
}
