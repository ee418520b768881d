internal import Postgres
internal import Push

/// The operator's list of gateways as one lane knows it, and how each is reached.
///
/// Read at the start, which waits for it, and every few seconds; while the database is away the last one holds. A gateway that is not
/// on it gets nothing. As the list may be older than the notification, nothing is concluded from a missing entry before the list was read again.
struct GatewayList {
    private var gateways: [String: GatewayAccess] = [:]
    private(set) var isKnown = false
    private let lookInterval: Duration

    /// An empty list that is not known yet; certificate files are looked at every `lookInterval`.
    init(lookInterval: Duration) {
        self.lookInterval = lookInterval
    }

    subscript(origin: GatewayOrigin) -> GatewayAccess? { gateways[origin.text] }

    var count: Int { gateways.count }

    /// Reads the list again; what has not changed keeps its connections and certificates.
    mutating func refresh(from database: inout DatabaseSession) throws(PostgresError) {
        let entries = try database.run { (connection: inout Connection) throws(PostgresError) in
            try GatewayRows.read(from: &connection)
        }
        var next: [String: GatewayAccess] = [:]
        for entry in entries {
            let known = gateways[entry.origin.text]
            next[entry.origin.text] =
                known?.entry == entry ? known : GatewayAccess(entry, lookingEvery: lookInterval)
        }
        gateways = next
        isKnown = true
    }
}
