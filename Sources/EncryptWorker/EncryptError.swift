package import Kafka
package import Postgres
package import Sealing

/// What stops a turn.
///
/// None of it is the fault of an event, so none of it makes a dead letter: the batch is put back and tried again, or the lane ends and
/// says why.
package enum EncryptError: Error {
    case database(PostgresError)
    case kafka(KafkaError)
    case sealing(SealingError)
    /// A stored chain is sealed under a key that the key file does not have.
    case missingKey(String)
    /// The database's clock gives a month that cannot be.
    case absurdMonth(Int32)
    /// Another process has taken over this lane's transactional id.
    case fenced(instance: String)

    package var isRetriable: Bool {
        switch self {
        case .database, .missingKey, .absurdMonth: true
        case .kafka(let error): !error.isFatal
        case .sealing, .fenced: false
        }
    }
}

extension EncryptError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .database(let error): "database: \(error)"
        case .kafka(let error): "Kafka: \(error)"
        case .sealing(let error): "sealing: \(error)"
        case .missingKey(let id): "the key file has no key '\(id)', under which stored key chains are sealed"
        case .absurdMonth(let ordinal):
            "the database's clock gives month number \(ordinal); it must be between 2000-01 and 2099-12"
        case .fenced(let instance):
            "another process runs as instance '\(instance)': give each its own name with --instance or POSTHORN_INSTANCE"
        }
    }
}
