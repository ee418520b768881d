package import Postgres

/// Why the database's schema and this program do not go together.
package enum SchemaError: Error, Sendable, Equatable {
    /// The database refused or was away.
    case database(PostgresError)
    /// An applied migration's text is not what this program knows under that number.
    case edited(fileName: String)
    /// The database was migrated by a newer program.
    case newer(database: Int32, program: Int32)
    /// A number is missing among those applied.
    case gap(version: Int32)
    /// A migration did not leave the transaction it ran in open: it commits by itself, and cannot be undone.
    case endsTransaction(fileName: String)
    /// A migration failed and nothing of it remains.
    case failed(fileName: String, PostgresError)

    /// Whether the same call may succeed later.
    package var isRetriable: Bool {
        switch self {
        case .database(let error), .failed(_, let error): error.isRetriable
        case .edited, .newer, .gap, .endsTransaction: false
        }
    }
}

extension SchemaError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .database(let error): "\(error)"
        case .edited(let fileName):
            "\(fileName) was edited after it had been applied; restore it, and put the change into a new file"
        case .newer(let database, let program):
            "the database is at schema version \(database), this program knows \(program): use a newer program"
        case .gap(let version):
            "the database says that migration \(version) was never applied, but later ones were"
        case .endsTransaction(let fileName): "\(fileName) ends its own transaction, which migrations must not"
        case .failed(let fileName, let error): "\(fileName) failed and was undone: \(error)"
        }
    }
}

extension SchemaError: PostgresFailure {
    package init(_ error: PostgresError) { self = .database(error) }

    package var postgresError: PostgresError? {
        switch self {
        case .database(let error), .failed(_, let error): error
        case .edited, .newer, .gap, .endsTransaction: nil
        }
    }
}
