import JSON

/// A gateway's result for one item of a batch.
///
/// Read leniently where gateways differ: null, absent and empty mean the same, unknown members are ignored, and a
/// result that makes no sense costs only itself.
package struct ItemResult: Hashable, Sendable {
    /// As the gateway wrote it.
    package var id: [UInt8]
    package var status: Status
    package var rejected: RejectedKeys

    package enum Status: String, Hashable, Sendable, CaseIterable {
        case success
        case failed
        /// Only some of the item's devices; items here have one.
        case partial
        /// Anything else, or nothing.
        case unknown
    }

    package init(id: [UInt8], status: Status, rejected: RejectedKeys = RejectedKeys([])) {
        self.id = id
        self.status = status
        self.rejected = rejected
    }

    /// What it says about an item that was sent for `pushkey`.
    ///
    /// A key that was not in the item counts for nothing. A rejected key counts whatever the status: the interface
    /// demands that one stops sending to it.
    package func outcome(pushkey: [UInt8]) -> Outcome {
        if rejected.contains(pushkey) { return .rejected }
        switch status {
        case .success: return .accepted
        case .failed, .partial: return .transient(.itemFailed)
        case .unknown: return .transient(.unreadableAnswer)
        }
    }

    /// Reads the body of a 200 to a batch.
    ///
    /// - Parameter body: the response's body.
    /// - Returns: the results in the gateway's order and how many were unreadable; nil if the body is no answer to a
    ///   batch.
    static func readAll(_ body: [UInt8]) -> (results: [ItemResult], unreadable: Int)? {
        try? Reader.read(body) { reader throws(ReadError) in
            var results: [ItemResult] = []
            var unreadable = 0
            var isAnswer = false
            try reader.readObject { name, reader throws(ReadError) in
                guard name == "results" else { return }
                isAnswer = true
                try reader.readArray { reader throws(ReadError) in
                    if let result = try ItemResult(&reader) {
                        results.append(result)
                    } else {
                        unreadable += 1
                    }
                }
            }
            guard isAnswer else { throw reader.missing("results") }
            return (results, unreadable)
        }
    }

    /// nil, with the value skipped, if it is no object with an id.
    private init?(_ reader: inout Reader) throws(ReadError) {
        guard try reader.peek() == .object else {
            try reader.skipValue()
            return nil
        }
        var id: [UInt8]?
        var status = Status.unknown
        var rejected = RejectedKeys([])
        try reader.readObject { name, reader throws(ReadError) in
            let kind = try reader.peek()
            switch name {
            case "id" where kind == .string: id = try reader.readStringBytes()
            case "status" where kind == .string:
                status = Status(rawValue: try reader.readString()) ?? .unknown
            case "rejected" where kind == .array: rejected = try RejectedKeys(array: &reader)
            default: break
            }
        }
        guard let id else { return nil }
        self.init(id: id, status: status, rejected: rejected)
    }
}

/// Pushkeys that a gateway calls dead; prints only how many.
package struct RejectedKeys: Hashable, Sendable {
    private let keys: [[UInt8]]

    package init(_ keys: [[UInt8]]) {
        self.keys = keys
    }

    package var count: Int { keys.count }

    package func contains(_ pushkey: [UInt8]) -> Bool {
        keys.contains(pushkey)
    }

    /// Reads an array and ignores what is no string in it.
    init(array reader: inout Reader) throws(ReadError) {
        var keys: [[UInt8]] = []
        try reader.readArray { reader throws(ReadError) in
            if try reader.peek() == .string { keys.append(try reader.readStringBytes()) }
        }
        self.keys = keys
    }

    /// Reads the body of a 200 to a single message: `{"rejected":[…]}`, or any other object, in which nothing is
    /// rejected.
    ///
    /// nil if the body is no object.
    init?(answer body: [UInt8]) {
        let keys = try? Reader.read(body) { reader throws(ReadError) in
            var keys = RejectedKeys([])
            try reader.readObject { name, reader throws(ReadError) in
                if name == "rejected", try reader.peek() == .array { keys = try RejectedKeys(array: &reader) }
            }
            return keys
        }
        guard let keys else { return nil }
        self = keys
    }
}

extension RejectedKeys: CustomStringConvertible, CustomReflectable {
    package var description: String { "\(keys.count) keys" }

    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
