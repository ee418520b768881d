import Push
import Testing

@testable import Demonstration

@Suite struct CastTests {
    private let month = Month("2026-11")!

    @Test(arguments: [1, 2, 3, 4, 1000]) func `every third user has a second device, and none is left over`(
        count: Int
    ) throws {
        let population = try Population(devices: count, month: month)
        #expect(population.devices.count == count)
        var seen = 0
        for user in 0..<population.userCount {
            let own = population.devices(ofUser: user)
            #expect(own.lowerBound == seen)
            #expect((1...2).contains(own.count))
            #expect(own.allSatisfy { population.devices[$0].user == user })
            seen = own.upperBound
        }
        #expect(seen == count)
        #expect(Set(population.devices.map(\.pushkey)).count == count)
    }

    @Test func `registrations are what the import takes, with some chains of earlier months`() throws {
        let population = try Population(devices: 30, month: month)
        let rules = RegistrationRules(currentMonth: month, encryption: .required)
        for index in 0..<30 {
            let line = try ImportLine(
                population.importLine(ofDevice: index, gateway: "http://127.0.0.1:1/push/v1/"),
                rules: rules
            )
            #expect(line.user == population.name(ofUser: population.devices[index].user))
            let choices = Dictionary(uniqueKeysWithValues: line.channels.map { ($0.channel, $0.status) })
            for kind in EventKind.allCases {
                #expect(
                    (choices[kind.channel] ?? kind.defaultStatus == .enabled ? .enabled : .disabled)
                        == (kind.isWanted(byDevice: index) ? ChannelStatus.enabled : .disabled)
                )
            }
        }
        #expect(Set(population.devices.map(\.month)) == [month, month - 1, month - 2])
    }

    @Test func `events are the same for the same seed, fit the frame and lead back to their number`() throws {
        let population = try Population(devices: 100, month: month)
        let script = Script(population, seed: 7)
        let other = Script(population, seed: 8)
        var owed = 0
        for number in 0..<1000 {
            let content = script.content(number)
            #expect(content.count <= PlaintextFrame.maximumPayloadLength)
            #expect(Message(content)?.event == number)
            #expect(content == Script(population, seed: 7).content(number))
            let now = Timestamp(milliseconds: 1_790_000_000_000)
            let event = try PublishableEvent(structured: script.line(number, now: now), now: now)
            #expect(event.value == content)
            owed += script.owed(number) == 0 ? 0 : 1
        }
        #expect((600..<1000).contains(owed))
        #expect((0..<100).contains { script.event($0).user != other.event($0).user })
        #expect(Message(Array("{}".utf8)) == nil)
    }
}
