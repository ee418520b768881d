import JSON
import LocalServices
import Push
import Support

/// `posthorn simulate gateway --script` in a process of its own: gateways in trouble, on the operator's list, who tell what they got.
final class ScriptedGateways {
    /// Where each of the script's origins listens, by its name.
    let origins: [String: String]
    let record: String
    private let role: Role
    private let port: UInt16

    /// One notification as a gateway remembers it; one that it refused is not among them.
    struct Receipt {
        var id = ""
        var origin = ""
        /// `success`, `failed`, `partial` or `nothing`.
        var told = ""
        var receivedAt = Timestamp(seconds: 0)
    }

    /// - Parameters:
    ///   - installation: whose list they come on.
    ///   - script: the path of a script.
    ///   - names: its origins, in their order.
    ///   - entry: more options for `gateways add`.
    /// - Throws: ``UnexpectedEnd`` when it does not start or is not taken on the list.
    init(_ installation: Installation, script: String, names: [String], entry: [String] = []) throws {
        let record = "\(installation.folder.path)/\(uniqueName("received"))"
        let listen = names.flatMap { _ in ["--listen", "127.0.0.1:0"] }
        let role = try Role(
            installation,
            ["simulate", "gateway", "--script", script, "--record", record, "--ask", "127.0.0.1:0"] + listen
        )
        try eventually("the gateways listen and answer") {
            guard role.isRunning else { throw role.unexpected() }
            return role.written.contains("answering on ") && role.written.hasSuffix("\n")
        }
        // "listening on http://127.0.0.1:1 as NAME", the name only where there are several; then "answering on http://127.0.0.1:2".
        let addresses = role.written.split(separator: "\n").map { $0.split(separator: " ")[2] }
        self.record = record
        self.role = role
        origins = Dictionary(uniqueKeysWithValues: zip(names, addresses.map { String($0) }))
        port = addresses.last?.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
        for origin in origins.values {
            try installation.run(["gateways", "add", origin, "--allow-private", "--insecure"] + entry)
        }
    }

    /// The same with a script that the test has written out.
    convenience init(
        _ installation: Installation,
        playing script: String,
        names: [String],
        entry: [String] = []
    ) throws {
        let path = try installation.write([script], as: "\(uniqueName("script")).json")
        try self.init(installation, script: path, names: names, entry: entry)
    }

    /// The address of the origin of that name, which must be one of them.
    subscript(name: String) -> String { origins[name] ?? "" }

    /// Enters a phase at every origin that has it.
    func enter(_ phase: String) throws {
        _ = try body(of: "POST", "/script/phase/\(phase)")
    }

    /// Items that an origin got until now, repeats included.
    func count(_ name: String) throws -> Int {
        var count = 0
        try Reader.read(try body(of: "GET", "/counts")) { reader throws(ReadError) in
            try reader.readObject { member, reader throws(ReadError) in
                guard member == "origins" else { return }
                try reader.readArray { reader throws(ReadError) in
                    var origin = ""
                    var items = 0
                    try reader.readObject { member, reader throws(ReadError) in
                        switch member {
                        case "name": origin = try reader.readString()
                        case "items": items = Int(try reader.readInt64())
                        default: break
                        }
                    }
                    if origin == name { count = items }
                }
            }
        }
        return count
    }

    /// All that was received until now, in its order.
    func receipts() throws -> [Receipt] {
        var receipts: [Receipt] = []
        var next: Int64 = 0
        while true {
            let count = receipts.count
            let answer = try body(of: "GET", "/received?since=\(next)&limit=10000")
            try Reader.read(answer) { reader throws(ReadError) in
                try reader.readObject { member, reader throws(ReadError) in
                    switch member {
                    case "next": next = try reader.readInt64()
                    case "receipts":
                        try reader.readArray { reader throws(ReadError) in
                            receipts.append(try Receipt(&reader))
                        }
                    default: break
                    }
                }
            }
            if receipts.count == count { return receipts }
        }
    }

    /// What all of them got until now, repeats included.
    var items: [SealedItem] { get throws { try SealedItem.items(ofRecord: record) } }

    private func body(of method: String, _ target: String) throws -> [UInt8] {
        let connection = try RawConnection(port: port)
        connection.send(
            "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        )
        let answer = connection.receive(for: .seconds(30)).text
        guard answer.hasPrefix("HTTP/1.1 200"),
            let body = answer.split(separator: "\r\n\r\n", maxSplits: 1).last
        else { throw UnexpectedEnd(description: "\(method) \(target): \(answer.prefix(300))") }
        return Array(body.utf8)
    }
}

extension ScriptedGateways.Receipt {
    fileprivate init(_ reader: inout Reader) throws(ReadError) {
        self.init()
        var moment = ""
        try reader.readObject { member, reader throws(ReadError) in
            switch member {
            case "id": id = try reader.readString()
            case "origin": origin = try reader.readString()
            case "told": told = try reader.readString()
            case "received_at": moment = try reader.readString()
            default: break
            }
        }
        guard let received = Timestamp(rfc3339: moment) else { throw reader.missing("received_at") }
        receivedAt = received
    }
}
