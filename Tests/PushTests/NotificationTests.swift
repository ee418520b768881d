import Testing

@testable import Push

struct NotificationTests {
    @Test func `R10 the frame of test begins with 504e4d31 03f6`() throws {
        let frame = try #require(PlaintextFrame.framed(Array("test".utf8)))
        #expect(frame.count == 1024)
        #expect(frame.prefix(6) == [0x50, 0x4E, 0x4D, 0x31, 0x03, 0xF6])
        #expect(frame[6..<1020].allSatisfy { $0 == 0x20 })
        #expect(frame.suffix(4) == [0x74, 0x65, 0x73, 0x74])
        #expect(PlaintextFrame.range(frame) == 1020..<1024)
    }

    @Test(arguments: [0, 1, 507, 508, 1017, 1018])
    func `what is framed comes out again`(length: Int) throws {
        let payload = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let frame = try #require(PlaintextFrame.framed(payload))
        #expect(frame.count == 1024)
        let range = try #require(PlaintextFrame.range(frame))
        #expect(Array(frame[range]) == payload)
    }

    @Test(arguments: [1019, 1024, 70_000])
    func `R9 a payload beyond 1018 bytes has no frame`(length: Int) {
        #expect(PlaintextFrame.framed([UInt8](repeating: 0, count: length)) == nil)
    }

    @Test func `a frame with anything amiss is none`() throws {
        let frame = try #require(PlaintextFrame.framed(Array("test".utf8)))
        #expect(PlaintextFrame.range(Array(frame.dropLast())) == nil)
        #expect(PlaintextFrame.range(frame + [0x20]) == nil)
        #expect(PlaintextFrame.range([]) == nil)
        for (index, byte) in [(0, 0x51), (3, 0x32), (4, 0xFF), (5, 0xFB), (6, 0x21), (1019, 0x00)] {
            var broken = frame
            broken[index] = UInt8(byte)
            #expect(PlaintextFrame.range(broken) == nil, "byte \(index)")
        }
    }

    @Test func `the digest's input names every field's length`() throws {
        let pusher = PusherID(try #require(UUIDBytes("00112233-4455-6677-8899-aabbccddeeff")))
        let input = NotificationID.input("/a", "e1", pusher)
        let expected: [UInt8] = [
            0, 0, 0, 2, 0x2F, 0x61, 0, 0, 0, 2, 0x65, 0x31, 0, 0, 0, 16,
            0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF,
        ]
        #expect(input == expected)
        #expect(NotificationID.input("/ae", "1", pusher) != input)
    }

    @Test func `an id is a UUID of version 8 made of the digest`() {
        let ones = NotificationID(digest: [UInt8](repeating: 0xFF, count: 32))
        #expect(ones.description == "ffffffff-ffff-8fff-bfff-ffffffffffff")
        let zeros = NotificationID(digest: [UInt8](repeating: 0, count: 32))
        #expect(zeros.description == "00000000-0000-8000-8000-000000000000")
        // SHA-256 of the input in the test above; computed apart.
        let digest: [UInt8] = [
            0xA3, 0xAE, 0x8D, 0xC7, 0xB7, 0x8A, 0xCA, 0x00, 0x79, 0xE4, 0xAB, 0xBB, 0xDA, 0xF6, 0x82, 0xF6,
            0x20, 0xE5, 0x73, 0xD1, 0x77, 0x37, 0x6A, 0x1B, 0x44, 0xD7, 0xAC, 0x17, 0xB8, 0x6B, 0xB5, 0x76,
        ]
        #expect(NotificationID(digest: digest).description == "a3ae8dc7-b78a-8a00-b9e4-abbbdaf682f6")
    }

    @Test func `a UUID reads in either case and prints in lower case`() throws {
        let text = "01234567-89ab-cdef-fedc-ba9876543210"
        let uuid = try #require(UUIDBytes(text))
        #expect(uuid.description == text)
        #expect(UUIDBytes(text.uppercased()) == uuid)
        var bytes: [UInt8] = []
        uuid.appendBytes(to: &bytes)
        #expect(UUIDBytes(bytes) == uuid)
        #expect(UUIDBytes(Array(bytes.dropLast())) == nil)
    }

    @Test(
        arguments: [
            "", "01234567-89ab-cdef-fedc-ba987654321", "01234567-89ab-cdef-fedc-ba98765432100",
            "0123456789abcdeffedcba9876543210",
            "01234567+89ab-cdef-fedc-ba9876543210", "01234567-89ab-cdef-fedc-ba987654321g",
            "{1234567-89ab-cdef-fedc-ba987654321}",
        ]
    )
    func `any other text is no UUID`(text: String) {
        #expect(UUIDBytes(text) == nil)
    }

    @Test func `every byte at every place of a UUID's text is told by itself`() throws {
        let text = Array("01234567-89ab-cdef-fedc-ba9876543210".utf8)
        var misread: [String] = []
        for place in text.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = text
                changed[place] = byte
                let isHyphen = text[place] == UInt8(ascii: "-")
                let isDigit = Unicode.Scalar(byte).properties.isASCIIHexDigit
                let isSound = isHyphen ? byte == text[place] : isDigit
                let expected = isSound ? String(decoding: changed, as: UTF8.self).lowercased() : nil
                if UUIDBytes(textBytes: changed)?.description != expected {
                    misread.append("\(byte) at \(place)")
                }
            }
        }
        #expect(misread.isEmpty)
    }
}
