/// What went wrong between us and PostgreSQL, without anything that a row or a parameter contained.
///
/// PostgreSQL's *detail*, *hint* and *context* may quote row values and are never kept. Its primary message is kept only
/// for the SQLSTATE classes whose messages name objects of the schema and not values.
package struct PostgresError: Error, Sendable, Equatable {
    /// The classes that callers tell apart.
    package enum Kind: Sendable, Equatable {
        /// There is no session, or it ended while in use. ``Connection/ensureConnected(within:)`` makes a new one.
        case connectionLost
        /// 40001: another transaction was in the way; the whole transaction may be repeated.
        case serialization
        /// 40P01: chosen as the victim of a deadlock; the whole transaction may be repeated.
        case deadlock
        /// 25006: the server or transaction is read-only; typically a standby, or a primary that was demoted.
        case readOnly
        /// Class 23: a constraint said no; the name is empty for a not-null column.
        case constraint(name: String)
        /// The time allowed ran out, here or at the server (55P03).
        case timeout
        /// 57014: somebody cancelled the statement.
        case cancelled
        /// The caller's stop descriptor became readable.
        case interrupted
        /// Class 53: connections, memory or disk at the server are used up.
        case insufficientResources
        /// 42501 or class 28: not allowed, or not authenticated.
        case permission
        /// Class 42, 0A, 3D and 3F: the statement does not fit the database's schema.
        case statement
        /// Class 22: a value does not fit its type.
        case data
        /// 25P02 and class 40: the transaction was rolled back, nothing of it remains.
        case rolledBack
        /// A result's column is not what the caller takes it for.
        case decoding(column: String)
        /// A parameter cannot be sent; counted from 1 as in `$1`.
        case parameter(number: Int)
        /// The caller broke a rule of this module.
        case usage
        /// Anything else.
        case other
    }

    package var kind: Kind
    /// Five letters and digits from the server; nil if the fault was found on this side.
    package var sqlState: String?
    /// Safe text, in the server's language, of at most 400 bytes.
    package var message: String
    /// The table that the server named, if it did.
    package var table: String?
    /// The column that the server named, if it did.
    package var column: String?
    /// For COPY: the row at fault, counted from 1.
    package var copyRow: Int?
    /// For a pipeline: the statement at fault, counted from 0.
    package var pipelineStatement: Int?
    /// A COMMIT was on its way when the session ended: it may or may not have taken effect.
    package var mayHaveCommitted = false

    package init(_ kind: Kind, _ message: String, sqlState: String? = nil) {
        self.kind = kind
        self.message = message
        self.sqlState = sqlState
    }

    /// Whether the same work may succeed later, on this session or a new one.
    package var isRetriable: Bool {
        switch kind {
        case .connectionLost, .serialization, .deadlock, .readOnly, .timeout, .insufficientResources: true
        case .constraint, .cancelled, .interrupted, .permission, .statement, .data, .rolledBack, .decoding,
            .parameter,
            .usage, .other:
            false
        }
    }

    /// Whether repeating the whole transaction at once, on the same session, is the remedy.
    package var isTransactionRetriable: Bool { kind == .serialization || kind == .deadlock }
}

extension PostgresError: CustomStringConvertible {
    package var description: String {
        var text = "\(kind.name): \(message)"
        if let sqlState { text += " (SQLSTATE \(sqlState))" }
        if let table { text += ", table \(table)" }
        if let column { text += ", column \(column)" }
        if let copyRow { text += ", row \(copyRow)" }
        if let pipelineStatement { text += ", statement \(pipelineStatement) of the pipeline" }
        if mayHaveCommitted { text += "; the transaction may have been committed" }
        return text
    }
}

extension PostgresError.Kind {
    /// A short name for logs and metric labels.
    package var name: String {
        switch self {
        case .connectionLost: "connection_lost"
        case .serialization: "serialization"
        case .deadlock: "deadlock"
        case .readOnly: "read_only"
        case .constraint: "constraint"
        case .timeout: "timeout"
        case .cancelled: "cancelled"
        case .interrupted: "interrupted"
        case .insufficientResources: "insufficient_resources"
        case .permission: "permission"
        case .statement: "statement"
        case .data: "data"
        case .rolledBack: "rolled_back"
        case .decoding: "decoding"
        case .parameter: "parameter"
        case .usage: "usage"
        case .other: "other"
        }
    }
}
