internal import Glibc

/// Reading a small file whole, without Foundation.
package enum FileContent {
    /// Why a file was not read.
    package struct Unreadable: Error, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// The file's bytes.
    ///
    /// - Throws: ``Unreadable`` when it cannot be opened or read, is a folder, or has more than `limit` bytes.
    ///
    /// The corresponding C functions are `open` and `read`.
    package static func read(_ path: String, limit: Int) throws(Unreadable) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw reason() }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = unsafe block.withUnsafeMutableBytes {
                unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
            }
            if count == 0 { return content }
            if count < 0 {
                if errno == EINTR { continue }
                throw reason()
            }
            content += block[..<count]
            if content.count > limit { throw Unreadable(description: "has more than \(limit) bytes") }
        }
    }

    private static func reason() -> Unreadable {
        unsafe Unreadable(description: "cannot be read: \(String(cString: strerror(errno)))")
    }
}
