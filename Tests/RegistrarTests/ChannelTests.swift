import Postgres
import Push
import Registrar
import Support
import Testing

@Suite struct ChannelTests {
    @Test func `a new channel is not set and sealed unless said otherwise`() throws {
        let fixture = try RegistrarFixture()
        let addition = try ChannelDirectory.add(ChannelChange(id: "fresh"), to: &fixture.connection)
        #expect(addition.isNew && addition.moved.isEmpty)
        #expect(addition.channel.defaultStatus == .notSet)
        #expect(!addition.channel.allowsPlain)
    }

    @Test func `adding again changes only what is given, and adds trigger types`() throws {
        let fixture = try RegistrarFixture()
        var change = ChannelChange(id: "fresh")
        change.triggerTypes = ["type.b", "type.a"]
        change.defaultStatus = .enabled
        change.allowsPlain = true
        _ = try ChannelDirectory.add(change, to: &fixture.connection)
        change = ChannelChange(id: "fresh")
        change.triggerTypes = ["type.c", "type.c"]
        let addition = try ChannelDirectory.add(change, to: &fixture.connection)
        #expect(!addition.isNew)
        #expect(addition.channel.triggerTypes == ["type.a", "type.b", "type.c"])
        #expect(addition.channel.defaultStatus == .enabled)
        #expect(addition.channel.allowsPlain)
        change = ChannelChange(id: "fresh")
        change.allowsPlain = false
        #expect(try ChannelDirectory.add(change, to: &fixture.connection).channel.allowsPlain == false)
    }

    @Test func `a trigger type moves from one channel to another, and that is said`() throws {
        let fixture = try RegistrarFixture()
        var change = ChannelChange(id: "news")
        change.triggerTypes = ["type.a"]
        _ = try ChannelDirectory.add(change, to: &fixture.connection)
        change.id = "alerts"
        let addition = try ChannelDirectory.add(change, to: &fixture.connection)
        #expect(addition.moved == [ChannelDirectory.MovedType(triggerType: "type.a", from: "news")])
        let channels = try ChannelDirectory.list(from: &fixture.connection)
        #expect(channels.map(\.id) == ["alerts", "news"])
        #expect(channels.map(\.triggerTypes) == [["type.a"], []])
    }

    @Test(arguments: ["", " ", "a b", "-a", "ä", String(repeating: "c", count: 65), "a,b"])
    func `names that nobody could use are refused`(id: String) throws {
        let fixture = try RegistrarFixture()
        #expect(throws: RegistrarError.self) {
            _ = try ChannelDirectory.add(ChannelChange(id: id), to: &fixture.connection)
        }
    }

    @Test(arguments: ["", "a\u{7}b", String(repeating: "t", count: 257)])
    func `trigger types that no event could have are refused`(type: String) throws {
        let fixture = try RegistrarFixture()
        var change = ChannelChange(id: "fresh")
        change.triggerTypes = [type]
        #expect(throws: RegistrarError.self) { _ = try ChannelDirectory.add(change, to: &fixture.connection) }
        #expect(try ChannelDirectory.list(from: &fixture.connection).count == 2)
    }
}
