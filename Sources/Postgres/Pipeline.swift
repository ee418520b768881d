internal import Cpq

/// Statements that travel together: one round trip for all.
package struct Pipeline: Sendable {
    /// Whether BEGIN goes in front and COMMIT behind, in the same round trip.
    ///
    /// Otherwise the statements are one implicit transaction, as PostgreSQL has it.
    package var isTransaction: Bool
    private(set) var statements: [(sql: String, parameters: Parameters)] = []

    package init(transaction: Bool = true) { isTransaction = transaction }

    package var count: Int { statements.count }

    package mutating func append(_ sql: String, _ parameters: Parameters = []) {
        statements.append((sql, parameters))
    }

    package mutating func removeAll() { statements.removeAll(keepingCapacity: true) }
}

/// What the statements of a pipeline gave back, in their order.
///
/// The corresponding C type is `PGresult`.
@safe
package struct PipelineResults: ~Copyable {
    private var results: [OpaquePointer?] = unsafe []

    init() {}

    deinit {
        for index in unsafe results.indices { unsafe PQclear(results[index]) }
    }

    package var count: Int { unsafe results.count }

    /// Hands over a statement's rows.
    ///
    /// - Throws: ``PostgresError/Kind/usage`` if there is no such statement or its rows were taken before.
    package mutating func take(_ index: Int) throws(PostgresError) -> Rows {
        guard index >= 0, index < count, let result = unsafe results[index] else {
            throw PostgresError(.usage, "the pipeline has no rows for statement \(index)")
        }
        unsafe results[index] = nil
        return unsafe Rows(owning: result)
    }

    mutating func append(_ result: OpaquePointer) { unsafe results.append(result) }
}
