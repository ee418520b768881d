import JSON
import Push
import Testing

@testable import Device

/// The messages of `ratchet.json`, opened by one device that knows nothing but the initial secret.
struct `The published messages` {
    struct Vector {
        var month = ""
        var payload: [UInt8] = []
        var ciphertext: [UInt8] = []
        var isFramed = false
    }

    @Test
    func `all twenty open in the order of their months`() throws {
        let vectors = try vectors()
        try #require(vectors.count == 20)
        var receiver = try Receiver()
        let registration = try receiver.register(
            Sender.secret(),
            month: Sender.month("2023-10"),
            keyIdentifier: "k"
        )
        for vector in vectors.sorted(by: { $0.month < $1.month }) {
            let message = try SealedMessage(
                month: Array(vector.month.utf8),
                keyIdentifier: vector.isFramed ? "k" : nil,
                ciphertext: vector.ciphertext.span,
                format: vector.isFramed ? .framed : .unframed
            )
            #expect(try receiver.open(message, with: registration) == vector.payload)
        }
        #expect(registration.months.map(\.description) == ["2023-12", "2024-01"])
    }

    private func vectors() throws -> [Vector] {
        try Reader.read(PackageResources.ratchet_json) { reader throws(ReadError) in
            var vectors: [Vector] = []
            try reader.readObject { name, reader throws(ReadError) in
                guard name == "encrypted" else { return }
                try reader.readArray { reader throws(ReadError) in vectors.append(try Vector(&reader)) }
            }
            return vectors
        }
    }
}

extension `The published messages`.Vector {
    fileprivate init(_ reader: inout Reader) throws(ReadError) {
        self.init()
        var vector = self
        try reader.readObject { name, reader throws(ReadError) in
            switch name {
            case "month": vector.month = try reader.readString()
            case "payload": vector.payload = try reader.readStringBytes()
            case "framing": vector.isFramed = try reader.readString() != "none"
            case "ciphertext_b64": vector.ciphertext = try reader.readStringBytes()
            default: break
            }
        }
        self = vector
    }
}
