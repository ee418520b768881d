internal import DispatchWorker
internal import Glibc
internal import HTTPServer
internal import Kafka
internal import Lanes
internal import LocalServices
internal import Postgres
internal import Push
internal import Schema
internal import Sealing
internal import Simulation
internal import Telemetry

func cpu() -> Double {
    var u = rusage()
    unsafe getrusage(0, &u)
    return Double(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + Double(u.ru_utime.tv_usec + u.ru_stime.tv_usec)
        / 1e6
}
func rss() -> Int {
    var u = rusage()
    unsafe getrusage(0, &u)
    return u.ru_maxrss / 1024
}

let arguments = CommandLine.arguments
if arguments.count > 1, arguments[1] == "gateway" {
    let configuration = Server.Configuration(
        listen: ListenAddress(host: "127.0.0.1", port: UInt16(arguments[2])!)
    )
    // Answers at once: reads ids by position, since all items have the same length.
    let server = try Server(
        configuration,
        deferring: { request, responder in
            var body: [UInt8] = Array(#"{"results":["#.utf8)
            var position = 18
            var first = true
            let b = request.body
            let idOffset = 7
            let marker: [UInt8] = Array(#"{"id":""#.utf8)
            while position + 43 < b.count {
                if b[position] == marker[0], b[position + 1] == marker[1], b[position + 2] == marker[2],
                    b[position + 5] == marker[5]
                {
                    if !first { body.append(44) }
                    first = false
                    body += #"{"id":""#.utf8
                    body += b[(position + idOffset)..<(position + idOffset + 36)]
                    body += #"","status":"success"}"#.utf8
                    position += 1500
                } else {
                    position += 1
                }
            }
            body += "]}".utf8
            responder.answer(
                Response(status: 200, headers: [HeaderField("content-type", "application/json")], body: body)
            )
        }
    )
    _ = server.port
    while true { sleep(1) }
}
let count = Int(arguments[1])!
let kafkaServer = try PrivateKafka(home: "/work/shared/kafka")
let postgres = try PrivatePostgres()
try postgres.createDatabase("bench")
let url = postgres.url(database: "bench")
var connection = try Connection(connectingTo: Postgres.Configuration(url))
_ = try Migrator().apply(to: &connection)
let port = try FreePort.pick()
let child = try ChildProcess(ChildProcess.Command("/proc/self/exe", ["gateway", "\(port)"]))
while !FreePort.accepts(port) { usleep(10000) }
let gateways = Int(arguments[2])!
let origin = "http://127.0.0.1:\(port)"
try connection.executeScript(
    "INSERT INTO gateways (origin, dialect, allow_private, insecure) VALUES ('\(origin)','gematik-1.2',true,true)"
)
let kafka = Kafka.Configuration(["bootstrap.servers": kafkaServer.bootstrapServers])
let topics = TopicCatalogue(prefix: "b-")
let admin = try Admin(kafka)
_ = try admin.createTopics(
    [topics.notifications, topics.notificationDeadLetters].map { TopicSpecification($0, partitions: 4) },
    timeout: .seconds(30)
)
do {
    var producer = try Producer(
        kafka.setting("linger.ms", "50").setting("compression.type", "lz4"),
        queueFullTimeout: .seconds(60)
    )
    var random = RandomSource()
    var cipher: [UInt8] = []
    for n in 0..<count {
        cipher.removeAll(keepingCapacity: true)
        var raw: [UInt8] = []
        try random.append(1053, to: &raw)
        Base64.encode(raw.span, into: &cipher)
        let id = NotificationID(UUIDBytes(high: 0x8000, low: 0x8000_0000_0000_0000 + UInt64(n)))
        let pusher = PusherID(UUIDBytes(high: 1, low: UInt64(n)))
        var value: [UInt8] = Array(#"{"id":"\#(id)","notification":{"ciphertext":""#.utf8)
        value += cipher
        value +=
            #"","time_message_encrypted":"2026-11","key_identifier":"0190c5a2-0000-7000-8000-000000000000","device":{"app_id":"com.example.app.apns","pushkey":"740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad","pushkey_ts":1700000000}}}"#
            .utf8
        var headers = Headers()
        for (name, v) in [
            ("id", id.description), ("user", "X110411675"),
            ("gateway", "\(origin)/g\(n % gateways)/push/v1/notifyEncrypted/batch"),
            ("format", "gematik-1.2-encrypted"), ("app", "com.example.app.apns"),
            ("channel", "erp.task.activate"), ("event", "0190c5a2-aaaa-7000-8000-000000000000"),
            ("source", "/erp"), ("month", "2026-11"), ("registered", "1700000000000"),
            ("created", "1700000000000"), ("expires", "4000000000000"),
        ] { headers.append(Header(name, text: v)) }
        try producer.produce(
            topic: topics.notifications,
            key: Array(pusher.description.utf8),
            value: value,
            headers: headers
        )
    }
    try producer.flush(timeout: .seconds(60))
}
func moment() -> Double { Double(Monotonic.now()) / 1e9 }
for round in 0..<Int(arguments[3])! {
    do {
        var consumer = try Consumer(kafka.setting("group.id", "drain-\(round)"))
        try consumer.subscribe([topics.notifications])
        var records: [Record] = []
        var seen = 0
        while seen == 0 {
            _ = try consumer.poll(into: &records, limit: 1000, wait: .milliseconds(100))
            seen = records.count
        }
        let (t, c) = (moment(), cpu())
        while seen < count {
            records.removeAll(keepingCapacity: true)
            _ = try consumer.poll(into: &records, limit: 1000, wait: .milliseconds(100))
            seen += records.count
        }
        let (dt, dc) = (moment() - t, cpu() - c)
        print("drain    \(Int(Double(count) / dt)) /s  \(dc / Double(count) * 1e6) us  rss \(rss())")
        consumer.close()
    }
    var settings = DispatchSettings(kafka: kafka, database: try Postgres.Configuration(url))
    settings.topics = TopicCatalogue(prefix: "b-")
    let registry = Registry()
    let metrics = DispatchMetrics(registry, lanes: 1)
    let log = Log(level: .warning, style: .json)
    let stop = try StopFlag()
    // A group of its own for every round: through the prefix only the group may differ.
    let kafkaRound = kafka
    settings.kafka = kafkaRound
    let chosen = settings
    let group = try LaneGroup(LaneStatus.lanes(named: "d", count: 1), policy: .goOn, stop: stop) {
        context throws(DispatchError) in
        try DispatchLane.run(chosen, context: context, metrics: metrics, log: log)
    }
    func value(_ name: String) -> Int {
        let text = String(decoding: registry.render(), as: UTF8.self)
        return text.split(separator: "\n").filter { $0.hasPrefix(name) }.compactMap {
            $0.split(separator: " ").last.flatMap { Int($0) }
        }.reduce(0, +)
    }
    while value("posthorn_dispatch_received_total") == 0 { usleep(2000) }
    let (t, c) = (moment(), cpu())
    while value(#"posthorn_dispatch_notifications_total{outcome="delivered"}"#) < count { usleep(20000) }
    let (dt, dc) = (moment() - t, cpu() - c)
    print(
        "dispatch \(Int(Double(count) / dt)) /s  \(dc / Double(count) * 1e6) us  rss \(rss())  requests \(value("posthorn_dispatch_requests_total"))"
    )
    stop.raise()
    _ = group.join(within: .seconds(30))
    // Back to the beginning for the next round.
    var c2 = try Consumer(kafka.setting("group.id", settings.topics.dispatchGroup))
    try c2.subscribe([topics.notifications])
    var ignored: [Record] = []
    var assigned = false
    while !assigned {
        for e in try c2.poll(into: &ignored, limit: 1, wait: .milliseconds(100)) {
            if case .assigned = e { assigned = true }
        }
    }
    try c2.commit(
        (0..<4).map { TopicPartitionOffset(topics.notifications, $0, offset: 0) },
        timeout: .seconds(5)
    )
    c2.close()
}
_ = child.stop(SIGKILL, grace: .seconds(5))
