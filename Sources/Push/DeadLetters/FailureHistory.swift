/// What is known about a record's failures, carried in its headers from retry to retry and into the dead letters.
///
/// The place and time of the first failure are kept, those of the last overwrite the one before; nothing is ever
/// appended, so the headers of the fiftieth cycle are no larger than those of the first.
package struct FailureHistory: Hashable, Sendable {
    /// Where it stood at its first failure.
    package var origin: RecordPlace?
    package var reason: DeadLetterReason?
    /// For people; ids and codes only, at most ``detailLimit`` bytes.
    package private(set) var detail = ""
    package var httpStatus: Int?
    package var attempts = 0
    package var firstFailedAt: Timestamp?
    package var lastFailedAt: Timestamp?
    package var stage: FailureStage?
    package var replayCount = 0
    /// Names the replay that brought it back last.
    package var replayID: String?

    /// 1 KiB.
    package static let detailLimit = 1024
    /// Bytes of a topic's or group's name that are kept: Kafka's own limit for topics.
    static let nameLimit = 249

    package init() {}

    /// Notes a failure.
    ///
    /// - Parameters:
    ///   - reason: nil while it will still be tried again.
    ///   - detail: for people; cut to ``detailLimit``. Never payloads, pushkeys or keys.
    ///   - httpStatus: of the answer, if there was one.
    ///   - stage: where it failed.
    ///   - place: where the record stands; only the first is kept.
    ///   - now: when.
    package mutating func note(
        _ reason: DeadLetterReason?,
        detail: String,
        httpStatus: Int? = nil,
        stage: FailureStage,
        at place: RecordPlace,
        now: Timestamp
    ) {
        self.reason = reason
        self.detail = TextRules.prefix(detail, bytes: Self.detailLimit)
        self.httpStatus = httpStatus
        self.stage = stage
        if origin == nil { origin = place }
        if firstFailedAt == nil { firstFailedAt = now }
        lastFailedAt = now
    }

    /// Whether a name begins as those do that ``take(header:_:)`` takes: told without reading it.
    package static func mayBeOne(_ name: Span<UInt8>) -> Bool {
        name.count > 2
            && (name[0] == UInt8(ascii: "x") && name[1] == UInt8(ascii: "-")
                || name[0] == UInt8(ascii: "k") && name[1] == UInt8(ascii: "a"))
    }

    /// Takes one header of a record that comes back, if it is one of ours.
    ///
    /// What does not read as it should is left out: somebody else may have written it.
    ///
    /// - Parameters:
    ///   - name: the header's name.
    ///   - value: the header's value.
    /// - Returns: whether it is one of ours, and so must not be copied.
    @discardableResult
    package mutating func take(header name: String, _ value: [UInt8]?) -> Bool {
        guard name.utf8.starts(with: "x-".utf8), let header = FailureHeader(rawValue: name) else {
            return SpringHeader.isOne(name)
        }
        guard let value, value.count <= Self.detailLimit, TextRules.isUTF8(value.span) else { return true }
        let text = String(decoding: value, as: UTF8.self)
        switch header {
        case .originalTopic: changeOrigin { $0.topic = TextRules.prefix(text, bytes: Self.nameLimit) }
        case .originalPartition: changeOrigin { $0.partition = Int32(text) ?? -1 }
        case .originalOffset: changeOrigin { $0.offset = Int64(text) ?? -1 }
        case .originalTimestamp: changeOrigin { $0.timestamp = Int64(text) ?? -1 }
        case .originalConsumerGroup:
            changeOrigin { $0.consumerGroup = TextRules.prefix(text, bytes: Self.nameLimit) }
        case .reason: reason = DeadLetterReason(rawValue: text)
        case .detail: detail = text
        case .httpStatus: httpStatus = Int(text).flatMap { (100...999).contains($0) ? $0 : nil }
        case .attempts: attempts = Self.count(text)
        case .firstFailedAt: firstFailedAt = Timestamp(rfc3339: text)
        case .lastFailedAt: lastFailedAt = Timestamp(rfc3339: text)
        case .stage: stage = FailureStage(rawValue: text)
        case .replayCount: replayCount = Self.count(text)
        case .replayID: replayID = TextRules.prefix(text, bytes: 64)
        }
        return true
    }

    /// The headers to write beside the original ones.
    ///
    /// - Parameters:
    ///   - budget: bytes that names and values may take; default no bound. What matters least is cut or left
    ///     out first: Spring's names, then the detail; the reason goes last.
    ///   - naming: default our own names only.
    /// - Returns: each header at most once, in the order of ``FailureHeader``, behind them those of ``SpringHeader``.
    package func headers(budget: Int = .max, naming: DeadLetterNaming = .own) -> [RecordHeader] {
        var rest = budget
        var chosen: [(header: FailureHeader, value: String)] = []
        for (header, text) in texts {
            let room = rest - header.rawValue.utf8.count
            let value = header == .detail ? TextRules.prefix(text, bytes: room) : text
            guard !value.isEmpty, value.utf8.count <= room else { continue }
            chosen.append((header, value))
            rest = room - value.utf8.count
        }
        let own = FailureHeader.allCases.compactMap { header in
            chosen.first { $0.header == header }.map { RecordHeader(header.rawValue, $0.value) }
        }
        return naming == .spring ? own + springHeaders(budget: rest) : own
    }

    // MARK: - Texts

    /// Every header with a value, what matters most first.
    private var texts: [(FailureHeader, String)] {
        var texts: [(FailureHeader, String)] = []
        func add(_ header: FailureHeader, _ text: String?) {
            if let text, !text.isEmpty { texts.append((header, text)) }
        }
        add(.reason, reason?.rawValue)
        add(.stage, stage?.rawValue)
        add(.attempts, attempts > 0 ? String(attempts) : nil)
        add(.firstFailedAt, firstFailedAt?.rfc3339)
        add(.lastFailedAt, lastFailedAt?.rfc3339)
        add(.originalTopic, origin?.topic)
        add(.originalPartition, origin.map { String($0.partition) })
        add(.originalOffset, origin.map { String($0.offset) })
        add(.originalTimestamp, origin.map { String($0.timestamp) })
        add(.originalConsumerGroup, origin?.consumerGroup)
        add(.replayCount, replayCount > 0 ? String(replayCount) : nil)
        add(.replayID, replayID)
        add(.httpStatus, httpStatus.map { String($0) })
        add(.detail, detail)
        return texts
    }

    private mutating func changeOrigin(_ change: (inout RecordPlace) -> Void) {
        var place =
            origin ?? RecordPlace(topic: "", partition: -1, offset: -1, timestamp: -1, consumerGroup: "")
        change(&place)
        origin = place
    }

    private static func count(_ text: String) -> Int {
        min(max(Int(text) ?? 0, 0), 1_000_000)
    }
}
