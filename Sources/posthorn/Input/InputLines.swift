internal import Lines
internal import Settings

/// What commands that read lines have in common: where from, what a bad line means, and how far they are.
struct InputLines: ~Copyable {
    static let file = Argument(
        "FILE",
        .fileOrInput,
        default: "-",
        help: "One JSON object a line; - is standard input. Empty lines are passed over."
    )
    static let strict = Option(
        flag: "strict",
        environment: .none,
        help: "Stop at the first bad line; what comes before it is done, nothing after it."
    )

    /// Lines that were not what they should be.
    private(set) var bad = 0
    var progress: ProgressLine
    private var reader: LineReader
    private let isStrict: Bool
    private let things: String

    init(
        _ invocation: Invocation,
        things: String,
        limit: Int = LineReader.defaultLimit
    ) throws {
        reader = try LineReader(invocation.values[Self.file], limit: limit)
        isStrict = invocation.values[Self.strict]
        progress = ProgressLine(environment: invocation.environment)
        self.things = things
    }

    /// The number of the line that came last.
    var number: Int { reader.number }

    /// Hands each line to `body`, until the input ends or a bad line stops it.
    ///
    /// - Parameter body: gets the line and this; gives what is wrong with the line, or nil.
    /// - Throws: ``LineError`` when reading fails; what `body` throws.
    mutating func each(_ body: ([UInt8], inout InputLines) throws -> String?) throws {
        var line: [UInt8] = []
        while let kind = try reader.next(into: &line) {
            let complaint =
                kind == .tooLong ? "the line is longer than \(reader.limit) bytes" : try body(line, &self)
            if let complaint {
                bad += 1
                progress.say("line \(reader.number): \(complaint)")
                if isStrict { break }
            }
            show()
        }
    }

    /// Draws how far it is.
    mutating func show() {
        progress.show(Int64(reader.number), things, part: reader.size.map { (reader.position, $0) })
    }
}
