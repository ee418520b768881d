package import Glibc

/// The few file operations that starting a server takes.
package enum Files {
    package static func write(
        _ text: String,
        to path: String,
        mode: mode_t = 0o600
    ) throws(LocalServicesError) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw .system(call: "open", code: errno) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        var written = 0
        while written < bytes.count {
            let step = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress! + written, bytes.count - written)
            }
            if step < 0 && errno == EINTR { continue }
            guard step > 0 else { throw .system(call: "write", code: errno) }
            written += step
        }
    }

    /// The file's bytes, or nil when it cannot be read.
    package static func read(_ path: String) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes {
                unsafe Glibc.read(descriptor, $0.baseAddress!, $0.count)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return count == 0 ? bytes : nil }
            bytes += chunk[..<count]
        }
    }

    /// The last `limit` bytes of a text file, for error messages.
    package static func tail(_ path: String, limit: Int = 4000) -> String {
        String(decoding: (read(path) ?? []).suffix(limit), as: UTF8.self)
    }

    package static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// The names in a folder, sorted; empty when it cannot be read.
    package static func names(in folder: String) -> [String] {
        guard let handle = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(handle) }
        var names: [String] = []
        while let entry = unsafe readdir(handle) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
