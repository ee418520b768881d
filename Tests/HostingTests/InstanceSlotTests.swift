internal import Glibc
import Support
import Testing

@testable import Hosting

struct InstanceSlotTests {
    @Test func `two of one group never share a name, and a freed one is taken first`() throws {
        let group = uniqueName("group")
        let host = try ProcessFacts.hostName()
        let first = try InstanceSlot(group: group)
        let second = try InstanceSlot(group: group)
        #expect(first.name == "\(host)-0" && second.name == "\(host)-1")
        _ = consume first
        let successor = try InstanceSlot(group: group)
        #expect(successor.number == 0)
        #expect(second.number == 1)
    }

    @Test func `groups do not share slots`() throws {
        let one = try InstanceSlot(group: uniqueName("group"))
        let other = try InstanceSlot(group: uniqueName("group"))
        #expect(one.number == 0 && other.number == 0)
    }

    @Test func `another process gets another name, and SIGKILL frees it`() async throws {
        let group = uniqueName("group")
        let own = try InstanceSlot(group: group)
        await #expect(processExitsWith: .signal(SIGKILL)) { [group = group as String] in
            let slot = try InstanceSlot(group: group)
            if slot.number == 1 { kill(getpid(), SIGKILL) }
            _ = consume slot
        }
        let successor = try InstanceSlot(group: group)
        #expect(own.number == 0 && successor.number == 1)
    }

    @Test func `slots are bounded`() throws {
        let group = uniqueName("group")
        func takeAll(_ left: Int) throws {
            let slot = try InstanceSlot(group: group)
            if left > 0 { try takeAll(left - 1) }
            _ = slot.number
        }
        var limits = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
        guard limits.rlim_cur > 1200 else { return }
        #expect(throws: HostingError.noFreeSlot(limit: InstanceSlot.limit)) {
            try takeAll(InstanceSlot.limit)
        }
    }

    @Test func `the environment is read without Foundation`() {
        unsafe setenv("POSTHORN_TEST_ONLY", "a=b", 1)
        defer { unsafe unsetenv("POSTHORN_TEST_ONLY") }
        #expect(ProcessFacts.environment()["POSTHORN_TEST_ONLY"] == "a=b")
        #expect(Terminal.columns(-1, environment: ["COLUMNS": "132"]) == 132)
        #expect(Terminal.columns(-1, environment: ["COLUMNS": "x"]) == 80)
        #expect(!Terminal.hasColours(-1, environment: [:]))
    }
}
