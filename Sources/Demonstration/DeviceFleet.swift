internal import Device
internal import JSON
internal import Lanes
internal import Push
internal import Simulation

/// All devices together: opens what the gateway has taken for them, each message with the keys of the device that it is addressed to.
///
/// A message counts as opened only if it is the very content that its event had, at a device that the event was owed to. One thread's own.
struct DeviceFleet: ~Copyable {
    /// Messages opened between two looks at the clock.
    private static let stride = 100

    private let script: Script
    private let ledger: Ledger
    private let showcase: Showcase
    private var records: OpenRecords

    /// - Parameters:
    ///   - script: what must be inside the messages.
    ///   - gateway: the address that the devices registered.
    ///   - ledger: where it is noted.
    ///   - showcase: gets one message, to be shown.
    /// - Throws: ``DemoError/devices(_:)``.
    init(
        _ script: Script,
        gateway: String,
        ledger: Ledger,
        showcase: Showcase
    ) throws(DemoError) {
        var records = try Self.newRecords()
        var file: [UInt8] = []
        for index in script.population.devices.indices {
            file += script.population.importLine(ofDevice: index, gateway: gateway)
            file.append(UInt8(ascii: "\n"))
        }
        if let fault = records.addRegistrations(file).first { throw .devices(fault.error) }
        self.script = script
        self.ledger = ledger
        self.showcase = showcase
        self.records = records
    }

    private static func newRecords() throws(DemoError) -> OpenRecords {
        do throws(OpenError) { return try OpenRecords() } catch { throw .devices(error) }
    }

    /// Opens what comes until told to stop, and then what is left.
    mutating func run(_ inbox: Inbox, _ context: LaneContext) {
        context.ready()
        while true {
            context.turn()
            let isLast = context.stop.isRaised
            let items = inbox.take(waiting: isLast ? .zero : .milliseconds(100))
            var rest = items[...]
            while !rest.isEmpty {
                open(rest.prefix(Self.stride))
                rest = rest.dropFirst(Self.stride)
            }
            if isLast, items.isEmpty { return }
        }
    }

    private mutating func open(_ items: ArraySlice<Simulation.ReceivedItem>) {
        var writer = Writer()
        for item in items { item.write(to: &writer) }
        let opened = records.open(writer.bytes)
        let now = Monotonic.now()
        for (item, result) in zip(items, opened) { note(item, result, at: now) }
    }

    private func note(_ item: Simulation.ReceivedItem, _ result: OpenedItem, at time: Int64) {
        guard case .success(let content) = result.outcome else { return ledger.noteUnopened() }
        let population = script.population
        guard let message = Message(content), script.content(message.event) == content,
            let device = result.pushkey.flatMap({ population.device(pushkey: $0) }),
            population.devices[device].user == script.event(message.event).user
        else { return ledger.noteStray() }
        let first = population.devices(ofUser: population.devices[device].user).lowerBound
        let entry = ledger.open(message.event, bit: 1 << UInt8(device - first), at: time)
        if entry == .first { showcase.offer(item, message, device: device) }
    }
}
