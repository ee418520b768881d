internal import Glibc

/// One request over a plain socket, so that these tests see the bytes.
enum HTTPGet {
    struct Answer: Equatable {
        let status: Int
        let head: String
        let body: String
    }

    struct Failed: Error {}

    static func get(_ path: String, port: UInt16, method: String = "GET") throws -> Answer {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failed() }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let connected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Failed() }
        let request = Array("\(method) \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".utf8)
        guard unsafe write(descriptor, request, request.count) == request.count else { throw Failed() }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe block.withUnsafeMutableBytes {
                unsafe read(descriptor, $0.baseAddress, $0.count)
            }
            if count <= 0 { break }
            bytes += block[..<count]
        }
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n\r\n", maxSplits: 1)
        guard let head = parts.first, let status = Int(head.split(separator: " ").dropFirst().first ?? "")
        else {
            throw Failed()
        }
        return Answer(status: status, head: head.lowercased(), body: parts.count > 1 ? String(parts[1]) : "")
    }
}
