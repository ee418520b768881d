import HTTPClient
import HTTPServer
import JSON
import Push
import Simulation
import Support
import Synchronization
import Testing

/// A simulated gateway on loopback and a client for it.
struct GatewayHarness: ~Copyable {
    var gateway: SimulatedGateway
    var client: Client
    let received: Received

    /// What the gateway's observer saw.
    final class Received: Sendable {
        private let items = Mutex<[ReceivedItem]>([])

        var all: [ReceivedItem] { items.withLock(\.self) }

        func add(_ more: [ReceivedItem]) {
            items.withLock { $0 += more }
        }
    }

    init(
        record: String? = nil,
        behaviour: @escaping @Sendable (GatewayArrival) -> GatewayConduct = { _ in .regular }
    ) throws {
        let received = Received()
        let client = try Client()
        let gateway = try SimulatedGateway(
            SimulatedGateway.Settings(
                listen: ListenAddress(host: "127.0.0.1", port: 0),
                record: record,
                observer: { received.add($0) },
                behaviour: behaviour
            )
        )
        self.client = client
        self.gateway = gateway
        self.received = received
    }

    /// A gateway that plays the first origin of a script.
    init(
        _ origin: GatewayScript.Origin,
        clock: ScriptPlayer.Clock = .system,
        ledger: GatewayLedger? = nil
    ) throws {
        try self.init(ScriptPlayer(origin, clock: clock), ledger: ledger)
    }

    init(_ player: ScriptPlayer, ledger: GatewayLedger? = nil) throws {
        let received = Received()
        let client = try Client()
        let gateway = try SimulatedGateway(
            SimulatedGateway.Settings(
                listen: ListenAddress(host: "127.0.0.1", port: 0),
                observer: { received.add($0) },
                ledger: ledger,
                player: player
            )
        )
        self.client = client
        self.gateway = gateway
        self.received = received
    }

    /// A gateway with one phase and one rule.
    init(_ rule: GatewayScript.Rule, manner: GatewayManner = .specified) throws {
        try self.init(
            GatewayScript.Origin(phases: [GatewayScript.Phase(manner: manner, rules: [rule])])
        )
    }

    mutating func post(
        _ body: String,
        _ path: String = "/push/v1/notifyEncrypted/batch",
        type: String = "application/json",
        method: HTTPClient.Request.Method = .post
    ) throws -> HTTPClient.Response {
        let result = try exchange(body, path, type: type, method: method)
        return try result.get()
    }

    mutating func exchange(
        _ body: String,
        _ path: String = "/push/v1/notifyEncrypted/batch",
        type: String = "application/json",
        method: HTTPClient.Request.Method = .post,
        total: Duration = .seconds(30),
        identity: TLSIdentity? = nil
    ) throws -> Result<HTTPClient.Response, Failure> {
        let origin = identity == nil ? "http://127.0.0.1" : "https://localhost"
        let request = HTTPClient.Request(
            method: method,
            url: "\(origin):\(gateway.port)\(path)",
            headers: type.isEmpty ? [] : [HTTPClient.HeaderField("content-type", type)],
            body: Array(body.utf8),
            destination: Destination(
                allowsPrivateAddresses: true,
                allowsPlainText: identity == nil,
                identity: identity
            ),
            limits: .init(total: total)
        )
        try client.start(request, id: 1)
        let deadline = ContinuousClock.now + .seconds(60)
        while client.inFlight > 0, ContinuousClock.now < deadline { try client.wait(upTo: .seconds(1)) }
        return try #require(client.takeCompleted().first).result
    }
}

/// Bodies as a Fachdienst would send them.
enum Sample {
    static let ciphertext = String(repeating: "Abc+", count: 350) + "Ab/="

    static func encrypted(
        _ pushkey: String = "key",
        ciphertext: String = ciphertext,
        month: String = "2026-11",
        more: String = ""
    ) -> String {
        #"{"ciphertext":"\#(ciphertext)","time_message_encrypted":"\#(month)","key_identifier":"k1"\#(more),"#
            + #""device":{"app_id":"com.example.app.apns","pushkey":"\#(pushkey)"}}"#
    }

    static func plain(_ pushkeys: [String], priority: String = #""prio":"high","#) -> String {
        let devices = pushkeys.map { #"{"app_id":"com.example.app.apns","pushkey":"\#($0)"}"# }
        return #"{\#(priority)"devices":[\#(devices.joined(separator: ","))]}"#
    }

    static func item(_ id: String, _ notification: String = encrypted()) -> String {
        #"{"id":"\#(id)","notification":\#(notification)}"#
    }

    static func batch(_ items: [String]) -> String {
        #"{"notifications":[\#(items.joined(separator: ","))]}"#
    }
}

/// A clock that a test turns by hand.
final class HandClock: Sendable {
    private let now = Mutex(Duration.zero)

    func advance(by step: Duration) {
        now.withLock { $0 += step }
    }

    /// Its wall time begins at 2026-11-30T12:00:00Z.
    var clock: ScriptPlayer.Clock {
        ScriptPlayer.Clock(
            elapsed: { self.now.withLock(\.self) },
            now: {
                Timestamp(seconds: 1_796_040_000).adding(self.now.withLock(\.self))
            }
        )
    }
}

extension GatewayArrival {
    /// As a gateway would see a batch of these keys, whose ids count from 0.
    static func batch(_ pushkeys: [String], app: String = "com.example.app.apns") -> GatewayArrival {
        GatewayArrival(
            batch: 1,
            path: "/push/v1/notifyEncrypted/batch",
            items: pushkeys.enumerated().map {
                Item(id: "\($0)", devices: [ReceivedDevice(app: app, pushkey: $1)])
            }
        )
    }
}

extension HTTPClient.Response {
    var text: String { String(decoding: body, as: UTF8.self) }
}
