package import Postgres
package import Sealing

/// Why the registrations could not be read or changed.
///
/// Names origins, channels, files and counts; never a pushkey, a secret or a key.
package enum RegistrarError: Error, Sendable, Equatable {
    /// The database refused or was away.
    case database(PostgresError)
    /// A key chain could not be derived, sealed or opened.
    case sealing(SealingError)
    /// What is asked of a gateway's entry does not go together; every fault in words for the operator.
    case gatewayFaults([String])
    /// No entry of that origin is on the list.
    case unknownGateway(origin: String)
    /// Pushers are registered at the gateway, so it stays as it is.
    case gatewayInUse(origin: String, pushers: Int64, change: String)
    /// What is asked of a channel does not do; the text says why.
    case channelFault(String)
    /// The database's clock says a month that cannot be.
    case impossibleMonth(Int32)
    /// Somebody changed the same registrations without keeping to the locks; nothing was written.
    case conflict

    /// Whether the same call may succeed later.
    package var isRetriable: Bool {
        switch self {
        case .database(let error): error.isRetriable
        case .sealing(let error): error.isRetriable
        case .conflict: true
        case .gatewayFaults, .unknownGateway, .gatewayInUse, .channelFault, .impossibleMonth: false
        }
    }
}

extension RegistrarError: PostgresFailure {
    package init(_ error: PostgresError) { self = .database(error) }

    package var postgresError: PostgresError? {
        if case .database(let error) = self { error } else { nil }
    }
}

extension RegistrarError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .database(let error): "\(error)"
        case .sealing(let error): "\(error)"
        case .gatewayFaults(let faults): faults.joined(separator: "; ")
        case .unknownGateway(let origin): "there is no gateway \(origin) on the list"
        case .gatewayInUse(let origin, let pushers, let change):
            "\(origin) cannot be \(change): \(pushers) \(pushers == 1 ? "pusher is" : "pushers are") registered there"
        case .channelFault(let fault): fault
        case .impossibleMonth(let ordinal):
            "the database's clock says month \(ordinal), counted from the year 0, which cannot be"
        case .conflict: "the same pushers were changed from elsewhere at the same time; nothing was written"
        }
    }
}

/// Runs `body`, its error as the registrar's.
func database<R: ~Copyable>(_ body: () throws(PostgresError) -> R) throws(RegistrarError) -> R {
    do throws(PostgresError) { return try body() } catch { throw .database(error) }
}
