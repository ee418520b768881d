package import Postgres
package import Push

/// The operator's list of gateways as one process knows it: the only places that notifications are sent to.
///
/// A few dozen rows, so a change is noticed by reading them all again and comparing. A lane that keeps what it made of an entry (a TLS
/// context, a connection) remembers ``version`` with it.
package struct GatewayList: Sendable, Equatable {
    /// By the origin's text.
    package private(set) var entries: [GatewayEntry] = []
    /// Counts the changes that ``refresh(from:)`` has found, from 0; means nothing to another process.
    package private(set) var version = 0
    private var places: [String: Int] = [:]

    /// An empty list, to be refreshed.
    package init() {}

    package init(from connection: inout Connection) throws(RegistrarError) {
        take(try GatewayDirectory.entries(from: &connection))
    }

    /// The entry of an origin; nil if nothing may be sent there.
    package subscript(origin: GatewayOrigin) -> GatewayEntry? { self[text: origin.text] }

    /// The same by the origin's canonical text.
    package subscript(text origin: String) -> GatewayEntry? { places[origin].map { entries[$0] } }

    /// Reads the list again.
    ///
    /// - Returns: whether anything has changed.
    @discardableResult
    package mutating func refresh(from connection: inout Connection) throws(RegistrarError) -> Bool {
        let read = try GatewayDirectory.entries(from: &connection)
        guard read != entries else { return false }
        take(read)
        version += 1
        return true
    }

    private mutating func take(_ read: [GatewayEntry]) {
        entries = read
        places = Dictionary(
            read.enumerated().map { ($1.origin.text, $0) },
            uniquingKeysWith: { first, _ in first }
        )
    }
}
