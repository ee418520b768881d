internal import Glibc

/// This process's own program, to be started again or to find others beside it.
package enum OwnProgram {
    /// Its absolute path.
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
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }()
}
