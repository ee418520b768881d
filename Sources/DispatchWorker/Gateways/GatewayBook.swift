internal import HTTPClient
internal import Postgres
internal import Push
internal import Registrar

/// The operator's list of gateways as one lane knows it, and how each is reached.
///
/// Read at the start, which waits for it, and every few seconds; while the database is away the last one holds. A gateway that is not
/// on it gets nothing. As the list may be older than the notification, nothing is concluded from a missing entry before the list was read again.
struct GatewayBook {
    private var list = GatewayList()
    private var gateways: [GatewayOrigin: GatewayAccess] = [:]
    private(set) var isKnown = false
    private let lookInterval: Duration
    /// What was told of each gateway's certificate files.
    private var faults: [GatewayOrigin: IdentityError] = [:]

    /// An empty list that is not known yet; certificate files are looked at every `lookInterval`.
    init(lookInterval: Duration) {
        self.lookInterval = lookInterval
    }

    /// All on the list.
    var origins: [GatewayOrigin] { Array(gateways.keys) }

    subscript(origin: GatewayOrigin) -> GatewayAccess? { gateways[origin] }

    /// Reads the list again; what has not changed keeps its connections and certificates.
    mutating func refresh(from database: inout DatabaseSession) throws(RegistrarError) {
        let changed: GatewayList? = try database.run {
            [list] (connection: inout Connection) throws(RegistrarError) in
            var next = list
            return try next.refresh(from: &connection) ? next : nil
        }
        isKnown = true
        guard let next = changed else { return }
        list = next
        var known: [GatewayOrigin: GatewayAccess] = [:]
        for entry in list.entries {
            let old = gateways[entry.origin]
            known[entry.origin] =
                old?.entry == entry ? old : GatewayAccess(entry, lookingEvery: lookInterval)
        }
        gateways = known
    }

    /// Looks at the certificate files, whether anything is sent or not.
    ///
    /// - Returns: where something has changed, and what is wrong there now.
    mutating func takeFaults() -> [(origin: GatewayOrigin, fault: IdentityError?)] {
        var changes: [(origin: GatewayOrigin, fault: IdentityError?)] = []
        for (origin, access) in gateways {
            access.look()
            if access.fault != faults[origin] { changes.append((origin, access.fault)) }
        }
        for origin in faults.keys where gateways[origin] == nil { changes.append((origin, nil)) }
        for (origin, fault) in changes { faults[origin] = fault }
        return changes
    }
}
