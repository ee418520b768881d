internal import Cpq

/// Where the database is and how patient we are with it.
///
/// Everything that libpq understands can be said in the connection string; what it leaves out gets defaults that
/// notice a dead peer within half a minute. Nothing here becomes a session `SET` or a startup option, so a PgBouncer
/// in transaction mode may stand in between.
package struct Configuration: Sendable {
    /// One attempt to connect, per host named; from 1 ms, default 10 s or the string's `connect_timeout`.
    ///
    /// Looking a host name up is not covered: the system's resolver has limits of its own.
    package var connectTimeout: Duration = .seconds(10)
    /// One statement, pipeline or stall of a COPY; default 30 s.
    package var statementTimeout: Duration = .seconds(30)
    /// How long a cancelled statement may take to end before its session is dropped; default 2 s.
    package var cancelGrace: Duration = .seconds(2)
    /// Keep statements prepared under names, per session; default off, as PgBouncer 1.18 in transaction mode hands each
    /// transaction another session.
    package var usesNamedStatements = false
    /// How many statements a session keeps prepared; further ones are sent unnamed.
    ///
    /// Default 100.
    package var namedStatementLimit = 100
    /// The first pause between attempts to reconnect; it doubles, with jitter, up to ``longestBackoff``.
    ///
    /// Default 100 ms.
    package var firstBackoff: Duration = .milliseconds(100)
    /// Default 5 s.
    package var longestBackoff: Duration = .seconds(5)

    /// Keyword and value, as `PQconnectStartParams` takes them.
    ///
    /// Holds the password.
    private(set) var options: [(keyword: String, value: String)] = []

    /// - Parameter conninfo: `postgresql://user@host:port/database?…` or `host=… dbname=…`. What it leaves open comes
    ///   from libpq's environment variables and defaults.
    /// - Throws: ``PostgresError/Kind/usage`` if it is not a connection string; the text is not repeated, since it may
    ///   hold a password.
    package init(_ conninfo: String) throws(PostgresError) {
        guard !conninfo.utf8.contains(0), let parsed = unsafe PQconninfoParse(conninfo, nil) else {
            throw PostgresError(
                .usage,
                "the connection string is neither a PostgreSQL URL nor a list of key=value"
            )
        }
        defer { unsafe PQconninfoFree(parsed) }
        var option = unsafe parsed
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val {
                unsafe options.append((String(cString: keyword), String(cString: value)))
            }
            unsafe option += 1
        }
        guard hasPlausibleAddress else {
            throw PostgresError(
                .usage,
                "the connection string's host or port cannot be right; is a password unescaped?"
            )
        }
        if let seconds = self["connect_timeout"].flatMap(Int64.init), (1...3600).contains(seconds) {
            connectTimeout = .seconds(seconds)
        }
        setDefault("application_name", "posthorn")
        setDefault("client_encoding", "UTF8")
        setDefault("keepalives", "1")
        setDefault("keepalives_idle", "15")
        setDefault("keepalives_interval", "5")
        setDefault("keepalives_count", "3")
        // Milliseconds; also bounds the wait for a host that does not answer at all, so that the next one gets a turn.
        setDefault("tcp_user_timeout", String(max(1, connectTimeout.wholeMilliseconds)))
    }

    /// Any libpq keyword; setting replaces what the connection string said.
    package subscript(keyword: String) -> String? {
        get { options.first { $0.keyword == keyword }?.value }
        set {
            options.removeAll { $0.keyword == keyword }
            if let newValue { options.append((keyword, newValue)) }
        }
    }

    /// How many hosts will be tried in turn.
    var hostCount: Int {
        let named = (self["hostaddr"] ?? self["host"] ?? "").utf8.count { $0 == UInt8(ascii: ",") }
        return named + 1
    }

    /// An unescaped `@`, `:` or `/` in a URL's password makes part of it the host or port, which errors would then show.
    private var hasPlausibleAddress: Bool {
        let hosts = (self["host"] ?? "").utf8.split(separator: UInt8(ascii: ","))
        let ports = (self["port"] ?? "").utf8.split(separator: UInt8(ascii: ","))
        // An @ in front names a socket in Linux's abstract namespace.
        return hosts.allSatisfy { !$0.dropFirst().contains(UInt8(ascii: "@")) }
            && ports.allSatisfy { port in
                port.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            }
    }

    private mutating func setDefault(_ keyword: String, _ value: String) {
        if self[keyword] == nil { self[keyword] = value }
    }
}

extension Configuration: CustomStringConvertible {
    /// Host, port, database and user; never the password.
    package var description: String {
        let shown = ["host", "hostaddr", "port", "dbname", "user", "application_name"]
        return options.filter { shown.contains($0.keyword) }.map { "\($0.keyword)=\($0.value)" }.joined(
            separator: " "
        )
    }
}

extension Configuration: CustomReflectable {
    /// Keeps the password out of `dump` and of string interpolation of what contains this.
    package var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension Duration {
    /// Rounded up, so that a wait never ends early; clamped to what Int32 holds.
    var wholeMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        guard seconds < 2_000_000 else { return 2_000_000_000 }
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(truncatingIfNeeded: seconds * 1000 + fraction)
    }
}
