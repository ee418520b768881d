package import Postgres

/// How many chains are sealed under which key-encryption key.
package struct KeyUsage: Sendable, Equatable {
    package let keyID: String
    package let chains: Int64

    package init(keyID: String, chains: Int64) {
        self.keyID = keyID
        self.chains = chains
    }

    /// All keys in use, by id; reads the index of all pushers.
    package static func all(from connection: inout Connection) throws(RegistrarError) -> [KeyUsage] {
        try database { () throws(PostgresError) in
            let rows = try connection.query(
                """
                SELECT chain_key_id, count(*) FROM pushers WHERE chain_key_id IS NOT NULL
                GROUP BY chain_key_id ORDER BY chain_key_id COLLATE "C"
                """,
                timeout: .seconds(3600)
            )
            var usage: [KeyUsage] = []
            for row in 0..<rows.count {
                usage.append(KeyUsage(keyID: try rows.text(row, 0), chains: try rows.int8(row, 1)))
            }
            return usage
        }
    }

    /// The ids of all keys in use, by steps through the index instead of reading it.
    static func ids(from connection: inout Connection) throws(PostgresError) -> [String] {
        let rows = try connection.query(
            """
            WITH RECURSIVE step AS (
                (SELECT chain_key_id FROM pushers WHERE chain_key_id IS NOT NULL ORDER BY chain_key_id LIMIT 1)
                UNION ALL
                SELECT (SELECT p.chain_key_id FROM pushers p WHERE p.chain_key_id > step.chain_key_id
                    ORDER BY p.chain_key_id LIMIT 1)
                FROM step WHERE step.chain_key_id IS NOT NULL
            )
            SELECT chain_key_id FROM step WHERE chain_key_id IS NOT NULL
            """
        )
        var ids: [String] = []
        for row in 0..<rows.count { ids.append(try rows.text(row, 0)) }
        return ids
    }
}
