import Glibc
import LocalServices
import Support
import Testing

@Suite struct `A child process` {
    @Test func `reports how it exited`() throws {
        #expect(try ChildProcess.run(.init("sh", ["-c", "exit 3"])) == .exited(3))
    }

    @Test func `reports the signal that killed it`() throws {
        let child = try ChildProcess(.init("sleep", ["60"]))
        child.signal(SIGKILL)
        #expect(child.wait(upTo: .seconds(30)) == .killed(signal: SIGKILL))
    }

    @Test func `is still running when a bounded wait ends`() throws {
        let child = try ChildProcess(.init("sleep", ["60"]))
        #expect(child.wait(upTo: .milliseconds(20)) == nil)
        #expect(child.isRunning)
        #expect(child.stop() == .killed(signal: SIGTERM))
    }

    @Test func `gets its environment and writes where it is told`() throws {
        let folder = try TemporaryFolder()
        var command = ChildProcess.Command("sh", ["-c", "echo $GREETING; echo oops >&2"])
        command.environment = ["GREETING": "hello"]
        command.output = .files(output: "\(folder.path)/out", error: "\(folder.path)/err")
        #expect(try ChildProcess.run(command) == .exited(0))
        #expect(Files.tail("\(folder.path)/out") == "hello\n")
        #expect(Files.tail("\(folder.path)/err") == "oops\n")
    }

    @Test func `does not outlive a parent that is killed`() throws {
        let folder = try TemporaryFolder()
        // The outer setpriv-started shell is the parent; its own child asks for the same death signal.
        var command = ChildProcess.Command(
            "sh",
            ["-c", "setpriv --pdeathsig KILL -- sleep 600 & echo $! > \(folder.path)/pid; wait"]
        )
        command.output = .discard
        let parent = try ChildProcess(command)
        try eventually("the grandchild's id is written") { Files.tail("\(folder.path)/pid").hasSuffix("\n") }
        let grandchild = try #require(Int32(Files.tail("\(folder.path)/pid").dropLast()))
        try eventually("it has asked for the signal") { Files.tail("/proc/\(grandchild)/comm") == "sleep\n" }
        parent.signal(SIGKILL)
        _ = parent.wait(upTo: .seconds(30))
        try eventually("the grandchild is gone") { !isAlive(grandchild) }
    }

    /// A killed process may stay as a zombie until its new parent collects it.
    private func isAlive(_ pid: Int32) -> Bool {
        guard let status = Files.read("/proc/\(pid)/stat") else { return false }
        return !String(decoding: status, as: UTF8.self).contains(") Z ")
    }

    @Test func `that does not exist is reported by its exit status`() throws {
        var command = ChildProcess.Command("no-such-program-here")
        command.output = .discard
        #expect(try ChildProcess.run(command) == .exited(127))
    }
}
