import Testing

@testable import Settings

struct FileTests {
    @Test func `comments, space, quotes and signs of equality are read as systemd and Docker read them`() {
        let file = SettingsFile(
            path: "f",
            content: Array("\n# note\n A = 1 \nB=\"two words\"\nC='x'\r\nD=a=b#c\nE=\nF=\"\n".utf8)
        )
        #expect(file.faults == [])
        #expect(
            file.entries.mapValues(\.value) == [
                "A": "1", "B": "two words", "C": "x", "D": "a=b#c", "E": "", "F": "\"",
            ]
        )
        #expect(file.entries["D"]?.line == 6)
    }

    @Test(arguments: [
        ("A", "the line, from f line 1: is not NAME=value"),
        ("=x", "the line, from f line 1: is not NAME=value"),
        ("A B=x", "the line, from f line 1: is not NAME=value"),
        ("A=1\nA=2", "A, from f line 2: was already given on line 1"),
    ])
    func `a line that cannot be read is named by its number`(content: String, fault: String) {
        #expect(SettingsFile(path: "f", content: Array(content.utf8)).faults.map(\.description) == [fault])
    }

    @Test func `bytes that are no text are refused as a whole`() {
        let file = SettingsFile(path: "f", content: [0x41, 0x3d, 0xff])
        #expect(file.faults.map(\.description) == ["f, from f line 1: is not UTF-8 text"])
    }

    @Test func `a file that is not there is a fault of the option that names it`() {
        #expect(
            Example.faults(Example.importing, ["--config", "x"]) == ["--config: 'x' cannot be read: gone"]
        )
        #expect(throws: FileContent.Unreadable.self) { try FileContent.read("/nonexistent", limit: 10) }
        #expect(throws: FileContent.Unreadable.self) { try FileContent.read("/proc/self/status", limit: 10) }
        #expect(throws: FileContent.Unreadable.self) { try FileContent.read("/", limit: 10) }
    }
}
