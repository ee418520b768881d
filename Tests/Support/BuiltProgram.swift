internal import Glibc

/// The program as it was built beside the tests that run.
package enum BuiltProgram {
    /// The absolute path of `posthorn`.
    ///
    /// The corresponding C function is `readlink`.
    package static let path: String = {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            unsafe readlink(
                "/proc/self/exe",
                bytes.baseAddress!.assumingMemoryBound(to: CChar.self),
                bytes.count
            )
        }
        let own = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        return own.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/posthorn"
    }()
}
