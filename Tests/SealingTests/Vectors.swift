import JSON
import Sealing
import Testing

/// The key chain and the sealed messages of `ratchet.json`.
struct Vectors {
    struct Generation {
        var month = ""
        var secret: [UInt8] = []
        var key: [UInt8] = []
    }

    struct Message: CustomTestStringConvertible {
        var month = ""
        var iv: [UInt8] = []
        var payload: [UInt8] = []
        var isFramed = false
        var ciphertext: [UInt8] = []

        var testDescription: String { "\(payload.count) bytes in \(month)" }

        /// What is sealed: the payload, in the frame where the vector says so.
        var plaintext: [UInt8] {
            guard isFramed else { return payload }
            let filler = 1024 - 6 - payload.count
            return Array("PNM1".utf8) + [UInt8(filler >> 8), UInt8(filler & 0xFF)]
                + Array(repeating: 0x20, count: filler) + payload
        }
    }

    private(set) var initialSecret: [UInt8] = []
    private(set) var chain: [Generation] = []
    private(set) var messages: [Message] = []

    static let all: Vectors = {
        do { return try Vectors() } catch { preconditionFailure("the vectors do not read: \(error)") }
    }()

    func key(of month: String) -> [UInt8] {
        chain.first { $0.month == month }?.key ?? []
    }

    private init() throws(ReadError) {
        let bytes = PackageResources.ratchet_json
        var reader = try Reader(bytes)
        var result = (secret: [UInt8](), chain: [Generation](), messages: [Message]())
        try reader.readObject { name, reader throws(ReadError) in
            switch name {
            case "iss": result.secret = try reader.readHex()
            case "chain":
                try reader.readArray { reader throws(ReadError) in
                    result.chain.append(try Self.generation(&reader))
                }
            case "encrypted":
                try reader.readArray { reader throws(ReadError) in
                    result.messages.append(try Self.message(&reader))
                }
            default: break
            }
        }
        (initialSecret, chain, messages) = (result.secret, result.chain, result.messages)
    }

    private static func generation(_ reader: inout Reader) throws(ReadError) -> Generation {
        var generation = Generation()
        try reader.readObject { name, reader throws(ReadError) in
            switch name {
            case "month": generation.month = try reader.readString()
            case "shared_secret": generation.secret = try reader.readHex()
            case "aes_key": generation.key = try reader.readHex()
            default: break
            }
        }
        return generation
    }

    private static func message(_ reader: inout Reader) throws(ReadError) -> Message {
        var message = Message()
        try reader.readObject { name, reader throws(ReadError) in
            switch name {
            case "month": message.month = try reader.readString()
            case "iv": message.iv = try reader.readHex()
            case "payload": message.payload = try reader.readStringBytes()
            case "framing": message.isFramed = try reader.readString() != "none"
            case "ciphertext_b64": message.ciphertext = try reader.readStringBytes()
            default: break
            }
        }
        return message
    }
}

extension Reader {
    fileprivate mutating func readHex() throws(ReadError) -> [UInt8] {
        let text = try readStringBytes()
        guard let bytes = Hex.decode(text.span) else { throw unacceptable("not hexadecimal") }
        return bytes
    }
}
