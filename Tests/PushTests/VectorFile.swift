import Glibc

/// Reads a file beside the tests' sources.
///
/// Large vectors are read at run time: as an array literal they would cost more to compile than everything else.
enum VectorFile {
    struct Missing: Error {
        var name: String
    }

    /// The lines of `Tests/Vectors/<name>`, without their ends.
    static func lines(_ name: String, source: String = #filePath) throws -> [[UInt8]] {
        let tests = source.split(separator: "/").dropLast(2).joined(separator: "/")
        guard let file = unsafe fopen("/\(tests)/Vectors/\(name)", "r") else { throw Missing(name: name) }
        defer { unsafe fclose(file) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe fread(&block, 1, block.count, file)
            if count == 0 { break }
            bytes.append(contentsOf: block.prefix(count))
        }
        return bytes.split(separator: 0x0A).map(Array.init)
    }
}
