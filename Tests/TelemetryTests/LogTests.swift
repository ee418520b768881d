internal import Glibc
import Synchronization
import Testing

@testable import Telemetry

#if TSAN
typealias Locked = Telemetry.Mutex
#else
typealias Locked = Synchronization.Mutex
#endif

/// Keeps lines for a test, and its time.
final class Recorder: LogOutput {
    private let kept = Locked<[String]>([])
    private let now = Atomic<Int64>(0)

    func write(_ line: [UInt8]) -> Bool {
        kept.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
        return true
    }

    var lines: [String] { kept.withLock { $0 } }

    func advance(seconds: Int64) {
        now.wrappingAdd(seconds * 1_000_000_000, ordering: .relaxed)
    }

    func log(_ level: Log.Level = .debug, _ style: LogStyle = .json, metrics: Registry? = nil) -> Log {
        let clock = LogClock(wall: { 1_769_862_896_789 }, monotonic: { self.now.load(ordering: .relaxed) })
        return Log(level: level, style: style, output: self, clock: clock, metrics: metrics)
    }
}

struct LogTests {
    @Test func `a line of JSON has time, level, event, context and typed fields`() {
        let recorder = Recorder()
        let log = recorder.log().with(["role": "encrypt", "lane": 1])
        log.info(
            "batch sealed",
            [
                "records": .integer(UInt64.max), "share": 0.5, "last": false,
                "took": .duration(.milliseconds(1500)), "topic": "a \"b\"",
            ]
        )
        #expect(
            recorder.lines == [
                #"{"time":"2026-01-31T12:34:56.789Z","level":"info","event":"batch sealed","role":"encrypt","lane":1,"#
                    + #""records":9223372036854775807,"share":0.5,"last":false,"took":1.5,"topic":"a \"b\""}"#
                    + "\n"
            ]
        )
    }

    @Test func `a line of text is for a person, in local time`() {
        let recorder = Recorder()
        recorder.log(.debug, .text(colours: false, secondsFromUTC: 3600)).warning(
            "database away",
            ["lane": 0, "reason": "no route", "after": .duration(.seconds(3)), "empty": ""]
        )
        #expect(
            recorder.lines == [
                "13:34:56.789 WARN  database away lane=0 reason=\"no route\" after=3.0s empty=\"\"\n"
            ]
        )
    }

    @Test func `a terminal gets colours`() {
        let recorder = Recorder()
        recorder.log(.debug, .text(colours: true, secondsFromUTC: 0)).error("x")
        #expect(recorder.lines.first?.contains("\u{1b}[1;31mERROR\u{1b}[0m") == true)
    }

    @Test func `events below the level are not written, nor their fields evaluated`() {
        let recorder = Recorder()
        let log = recorder.log(.warning)
        var isEvaluated = false
        func field() -> LogValue {
            isEvaluated = true
            return 1
        }
        log.debug("a", ["x": field()])
        log.info("b", ["x": field()])
        #expect(recorder.lines.isEmpty && !isEvaluated)
        log.warning("c", ["x": field()])
        #expect(recorder.lines.count == 1 && isEvaluated)
    }

    @Test(arguments: [
        ("a\nb\u{1b}[31m\u{0}", #""a\nb\u001b[31m\u0000""#, #"a\u{a}b\u{1b}[31m\u{0}"#),
        (
            "\u{202e}x\u{9b}1m\u{7f}\u{2028}", #""\\u{202e}x\\u{9b}1m\\u{7f}\\u{2028}""#,
            #"\u{202e}x\u{9b}1m\u{7f}\u{2028}"#
        ),
        ("Grüße 🎺", "\"Grüße 🎺\"", "\"Grüße 🎺\""),
    ])
    func `nothing in a field steers a terminal or forges a line`(text: String, json: String, plain: String) {
        let recorder = Recorder()
        recorder.log(.debug, .json).info("x", ["t": .text(text)])
        recorder.log(.debug, .text(colours: false, secondsFromUTC: 0)).info("x", ["t": .text(text)])
        #expect(recorder.lines[0].hasSuffix("\"t\":\(json)}\n"))
        #expect(recorder.lines[1].hasSuffix("t=\(plain)\n"))
        #expect(recorder.lines.allSatisfy { $0.utf8.filter { $0 == 10 }.count == 1 })
    }

    @Test(arguments: [LogStyle.json, .text(colours: true, secondsFromUTC: 0)])
    func `texts and lines are bounded, and a cut is marked`(style: LogStyle) {
        let recorder = Recorder()
        let long = String(repeating: "ü\u{1}", count: 5000)
        let log = recorder.log(.debug, style)
        log.info("x", ["a": .text(long), "b": 1])
        log.info(
            "x",
            [
                "a": .text(long), "b": .text(long), "c": .text(long), "d": .text(long), "e": .text(long),
                "z": 7,
            ]
        )
        for line in recorder.lines {
            #expect(line.utf8.count <= LogStyle.lineLimit && line.hasSuffix("\n") && line.contains("…"))
        }
        if style == .json { #expect(recorder.lines[1].hasSuffix("\"z\":7,\"truncated\":true}\n")) }
    }

    @Test func `a storm of one event is cut down, counted and told, and does not hide others`() {
        let recorder = Recorder()
        let log = recorder.log()
        for _ in 0..<1000 { log.error("broker away") }
        log.info("something else")
        #expect(recorder.lines.count == LogLimiter.burst + 1)
        log.reportSuppressed()
        #expect(recorder.lines.count == LogLimiter.burst + 1)
        recorder.advance(seconds: 10)
        log.reportSuppressed()
        #expect(recorder.lines.last?.contains(#""suppressed_event":"broker away","count":990}"#) == true)
        let before = recorder.lines.count
        log.reportSuppressed()
        log.error("broker away")
        #expect(recorder.lines.count == before + 1)
    }

    @Test func `lines are counted by level`() {
        let registry = Registry()
        let recorder = Recorder()
        recorder.log(metrics: registry).error("x")
        let text = String(decoding: registry.render(), as: UTF8.self)
        #expect(text.contains("posthorn_log_lines_total{level=\"error\"} 1\n"))
        #expect(text.contains("posthorn_log_lines_total{level=\"info\"} 0\n"))
        #expect(text.contains("posthorn_log_lines_lost_total 0\n"))
    }

    @Test func `a reader that does not keep up loses lines and does not hold up the writer`() throws {
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let registry = Registry()
        let log = Log(level: .debug, style: .json, output: DescriptorOutput(ends[1]), metrics: registry)
        // More than any pipe holds by default (64 KiB); debug lines are not cut down.
        for _ in 0..<200 { log.debug("x", ["filler": .text(String(repeating: "y", count: 1000))]) }
        let text = String(decoding: registry.render(), as: UTF8.self)
        let lost = text.split(separator: "\n").first { $0.hasPrefix("posthorn_log_lines_lost_total ") }
        let count = try #require(lost.flatMap { Int($0.split(separator: " ")[1]) })
        #expect(count > 100 && count < 200)
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1_769_862_896_789, "2026-01-31T12:34:56.789Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (.max, "9999-12-31T23:59:59.999Z"), (.min, "0000-01-01T00:00:00.000Z"),
        ] as [(Int64, String)]
    )
    func `a moment is written as RFC 3339`(milliseconds: Int64, text: String) {
        #expect(CivilTime(milliseconds: milliseconds).rfc3339 == text)
    }
}
