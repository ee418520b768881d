internal import Cglibc
internal import Glibc

/// The one door to `posix_spawn`.
///
/// The account and the parent-death signal are set by `setpriv` (part of Debian's essential util-linux), which
/// replaces itself by the program: between fork and exec a process with threads must not run code of ours.
enum Spawn {
    static func start(_ command: ChildProcess.Command) throws(LocalServicesError) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe addStreams(of: command, to: &actions)
        unsafe glibc_spawn_close_from(&actions, 3)

        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        setSignals(&attributes)

        var pid: pid_t = 0
        let code = unsafe withCStrings(arguments(for: command)) { argv in
            unsafe withCStrings(environment(for: command)) { envp in
                unsafe posix_spawnp(&pid, "setpriv", &actions, &attributes, argv, envp)
            }
        }
        guard code == 0 else { throw .system(call: "posix_spawn", code: code) }
        return pid
    }

    private static func arguments(for command: ChildProcess.Command) -> [String] {
        var words = ["setpriv", "--pdeathsig", command.deathSignal.rawValue]
        if let account = command.account, getuid() == 0 {
            words += ["--reuid=\(account.user)", "--regid=\(account.group)", "--clear-groups"]
        }
        return words + ["--", command.program] + command.arguments
    }

    private static func environment(for command: ChildProcess.Command) -> [String] {
        var values: [String: String] = [:]
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            let pair = unsafe String(cString: text)
            if let separator = pair.firstIndex(of: "=") {
                values[String(pair[..<separator])] = String(pair[pair.index(after: separator)...])
            }
            unsafe entry += 1
        }
        for (name, value) in command.environment { values[name] = value }
        return values.map { "\($0.key)=\($0.value)" }
    }

    private static func addStreams(
        of command: ChildProcess.Command,
        to actions: inout posix_spawn_file_actions_t
    ) {
        let append = O_WRONLY | O_CREAT | O_APPEND
        unsafe posix_spawn_file_actions_addopen(&actions, 0, command.input ?? "/dev/null", O_RDONLY, 0)
        switch command.output {
        case .inherit: break
        case .discard:
            unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
            unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
        case .file(let path):
            unsafe posix_spawn_file_actions_addopen(&actions, 1, path, append, 0o600)
            unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
        case .files(let output, let error):
            unsafe posix_spawn_file_actions_addopen(&actions, 1, output, append, 0o600)
            unsafe posix_spawn_file_actions_addopen(&actions, 2, error, append, 0o600)
        }
    }

    /// The child starts with an empty signal mask, default handlers and a process group of its own.
    private static func setSignals(_ attributes: inout posix_spawnattr_t) {
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        let flags =
            Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETPGROUP)
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    }

    private static func withCStrings<R>(
        _ strings: [String],
        _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
    ) -> R {
        var pointers = unsafe strings.map { unsafe strdup($0) }
        unsafe pointers.append(nil)
        defer {
            for index in unsafe pointers.indices { unsafe free(pointers[index]) }
        }
        return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
    }
}
