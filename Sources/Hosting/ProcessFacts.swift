internal import Cglibc
internal import Glibc

/// What the system tells a process about itself.
package enum ProcessFacts {
    /// All variables of the environment; one that is no UTF-8 is repaired.
    ///
    /// The corresponding C variable is `environ`.
    package static func environment() -> [String: String] {
        var result: [String: String] = [:]
        guard var entry = unsafe glibc_environ() else { return result }
        while let text = unsafe entry.pointee {
            let pair = unsafe String(cString: text)
            if let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) {
                result[String(pair[..<equals])] = String(pair[pair.utf8.index(after: equals)...])
            }
            unsafe entry += 1
        }
        return result
    }

    /// The name of this host.
    ///
    /// The corresponding C function is `gethostname`.
    package static func hostName() throws(HostingError) -> String {
        // Linux allows 64 bytes; one for their end, and one that stays zero.
        var name = [CChar](repeating: 0, count: 66)
        let code = unsafe gethostname(&name, 65)
        if code != 0 { throw .system(call: "gethostname", code: errno) }
        let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return bytes.isEmpty ? "localhost" : String(decoding: bytes, as: UTF8.self)
    }

    /// From here on a write to a closed pipe or socket is an error, and not the process's death.
    ///
    /// The corresponding C function is `sigaction`.
    package static func ignoreBrokenPipes() {
        _ = glibc_ignore_sigpipe()
    }

    /// From here on freed memory is kept for the next batch, up to 64 MB of it.
    ///
    /// A lane frees its batch's memory at the end of every turn; giving it back to the system and faulting it in again took a sixth of the
    /// encrypt lane's CPU.
    ///
    /// The corresponding C function is `mallopt`.
    package static func keepFreedMemory() {
        glibc_keep_freed_memory()
    }
}

/// What is at the other end of a standard stream.
package enum Terminal {
    package static func isTerminal(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1
    }

    /// How wide it is; `COLUMNS` wins, and 80 where nobody says.
    package static func columns(_ descriptor: Int32, environment: [String: String]) -> Int {
        if let text = environment["COLUMNS"], let columns = Int(text), columns > 0 { return columns }
        let columns = Int(glibc_terminal_columns(descriptor))
        return columns > 0 ? columns : 80
    }

    /// Whether to use colours there (https://no-color.org).
    package static func hasColours(_ descriptor: Int32, environment: [String: String]) -> Bool {
        isTerminal(descriptor) && environment["NO_COLOR", default: ""].isEmpty
            && environment["TERM"] != "dumb"
    }
}

extension ProcessFacts {
    /// The name under which this process's user logs in; behind sudo that of who called it; the number where there is no name.
    ///
    /// The corresponding C function is `getpwuid_r`.
    package static func loginName() -> String {
        let user = getuid()
        if user == 0, let caller = environment()["SUDO_USER"], !caller.isEmpty { return caller }
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        // Enough for any name, shell and folder that there is; a longer entry leaves the number.
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        let code = unsafe getpwuid_r(user, &entry, &buffer, buffer.count, &found)
        guard code == 0, let name = unsafe found?.pointee.pw_name else { return "uid \(user)" }
        return unsafe String(cString: name)
    }
}
