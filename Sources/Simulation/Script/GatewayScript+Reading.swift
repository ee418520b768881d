internal import HTTPServer
internal import JSON

extension GatewayScript {
    /// The longest script, in bytes.
    package static let longest = 1 << 20

    /// Reads a script as it stands in a file.
    ///
    /// - Parameters:
    ///   - json: the file's bytes, at most ``longest``.
    ///   - folder: what relative paths of certificates begin at; nil leaves them as they are.
    /// - Throws: ``ScriptError`` with line, field and limit.
    package init(json: [UInt8], folder: String? = nil) throws(ScriptError) {
        do throws(ReadError) {
            self = try Reader.read(json, limits: Limits(documentBytes: Self.longest, depth: 12)) {
                reader throws(ReadError) in
                try reader.readScript()
            }
        } catch {
            throw ScriptError(error, in: json)
        }
        if let folder {
            for index in origins.indices {
                origins[index].tls = origins[index].tls.mapValues { $0.rooted(in: folder) }
            }
        }
    }
}

/// Why a file is no script.
package struct ScriptError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Counted from 1.
    package let line: Int
    /// The way to the value, such as `origins[0].phases[1].share`; empty for the document itself.
    package let field: String
    package let reason: String

    package var isRetriable: Bool { false }

    package var description: String {
        "line \(line): \(field.isEmpty ? "" : "\(field): ")\(reason)"
    }

    init(_ error: ReadError, in json: [UInt8]) {
        line = 1 + json.prefix(max(0, error.offset)).count { $0 == 0x0a }
        field = error.path
        reason = error.reason.description
    }
}

extension Server.TLSPaths {
    fileprivate func rooted(in folder: String) -> Server.TLSPaths {
        func rooted(_ path: String) -> String { path.hasPrefix("/") ? path : "\(folder)/\(path)" }
        var paths = self
        paths.certificate = rooted(certificate)
        paths.key = rooted(key)
        paths.clientAuthorities = clientAuthorities.map(rooted)
        return paths
    }
}

extension Reader {
    fileprivate mutating func readScript() throws(ReadError) -> GatewayScript {
        var script = GatewayScript(origins: [])
        try readObject { name, reader throws(ReadError) in
            switch name {
            case "seed": script.seed = UInt64(try reader.readWhole(0...Int.max))
            case "origins":
                script.origins = try reader.readList(1...32) { reader throws(ReadError) in
                    try reader.readOrigin()
                }
                let names = Set(script.origins.map(\.name))
                guard names.count == script.origins.count else {
                    throw reader.unacceptable("names must differ")
                }
            default: throw reader.unknownField
            }
        }
        guard !script.origins.isEmpty else { throw missing("origins") }
        return script
    }

    private mutating func readOrigin() throws(ReadError) -> GatewayScript.Origin {
        var origin = GatewayScript.Origin(phases: [])
        try readObject { name, reader throws(ReadError) in
            switch name {
            case "name": origin.name = try reader.readName()
            case "listen":
                guard let address = ListenAddress(try reader.readString()) else {
                    throw reader.unacceptable("must be HOST:PORT")
                }
                origin.listen = address
            case "tls": origin.tls = try reader.readIdentities()
            case "request_limit_kb": origin.requestLimit = try reader.readWhole(1...32_768) << 10
            case "repeat": origin.repeats = try reader.readBool()
            case "phases":
                origin.phases = try reader.readList(1...100) { reader throws(ReadError) in
                    try reader.readPhase()
                }
            default: throw reader.unknownField
            }
        }
        guard !origin.phases.isEmpty else { throw missing("phases") }
        try check(origin)
        return origin
    }

    private func check(_ origin: GatewayScript.Origin) throws(ReadError) {
        guard Set(origin.phases.map(\.name)).count == origin.phases.count else {
            throw unacceptable("the names of its phases must differ")
        }
        for phase in origin.phases {
            guard case .serve(let identity) = phase.connection, identity != "default" else { continue }
            guard origin.tls[identity] != nil else {
                throw unacceptable("phase \(phase.name) has a certificate that tls does not name")
            }
        }
        let isEndless = origin.phases.firstIndex { $0.lasts == nil && $0.requests == nil }
        if let isEndless, isEndless < origin.phases.count - 1, origin.repeats {
            throw unacceptable("a phase that never ends leaves nothing to repeat")
        }
    }

    private mutating func readIdentities() throws(ReadError) -> [String: Server.TLSPaths] {
        var identities: [String: Server.TLSPaths] = [:]
        try readObject { name, reader throws(ReadError) in
            guard GatewayScript.isName(name.text) else {
                throw reader.unacceptable("must be named in 1 to 64 letters, digits, - or _")
            }
            guard identities.count < 8 else { throw reader.unacceptable("at most 8 certificates") }
            identities[name.text] = try reader.readIdentity()
        }
        return identities
    }

    private mutating func readIdentity() throws(ReadError) -> Server.TLSPaths {
        var certificate: String?
        var key: String?
        var authorities: String?
        var endsHandshake = false
        try readObject { name, reader throws(ReadError) in
            switch name {
            case "certificate": certificate = try reader.readText(1...4096)
            case "key": key = try reader.readText(1...4096)
            case "client_ca": authorities = try reader.readText(1...4096)
            case "client":
                endsHandshake = try reader.readChoice(["answered", "refused"]) == "refused"
            default: throw reader.unknownField
            }
        }
        guard let certificate else { throw missing("certificate") }
        guard let key else { throw missing("key") }
        return Server.TLSPaths(
            certificate: certificate,
            key: key,
            clientAuthorities: authorities,
            endsHandshake: endsHandshake
        )
    }
}
