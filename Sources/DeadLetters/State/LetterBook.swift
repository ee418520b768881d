package import Postgres

/// What was done with a letter that still lies in its topic.
package enum Disposition: String, Hashable, Sendable, CaseIterable {
    /// Sent again. If it fails again it is a new letter, further on.
    case replayed
    /// Set aside.
    case parked
    /// Given up; there was an open letter before it, so that it could not be deleted.
    case purged
}

/// Which letters of one topic are dealt with; all others are open.
package struct LetterBook: Hashable, Sendable {
    package var topic: String
    /// By partition and disposition.
    package private(set) var offsets: [Int32: [Disposition: OffsetRanges]]
    /// Some partition ends before the end that it had: the topic was made anew, and what was known of it is left out.
    package private(set) var isRecreated = false

    package init(topic: String) {
        self.topic = topic
        offsets = [:]
    }

    /// What was done with a letter; nil for an open one.
    package func disposition(partition: Int32, offset: Int64) -> Disposition? {
        guard let known = offsets[partition] else { return nil }
        return Disposition.allCases.first { known[$0]?.contains(offset) ?? false }
    }

    /// Reads the book of a topic whose partitions begin and end at `bounds` now.
    ///
    /// A topic that was deleted and made anew begins at 0 again, and old places would hide new letters. Kafka's topic ids would tell, but
    /// librdkafka 2.0.2 does not give them; so it is told by a partition that ends before it did. One that has grown beyond its old end
    /// before anybody looked is not noticed.
    package static func load(
        _ bounds: TopicBounds,
        from connection: inout Connection
    ) throws(DeadLettersError) -> LetterBook {
        var book = LetterBook(topic: bounds.topic)
        do throws(PostgresError) {
            let ends = try connection.query(
                "SELECT partition, end_offset FROM dead_letter_partitions WHERE topic = $1",
                [.text(bounds.topic)]
            )
            for row in 0..<ends.count {
                guard let range = bounds.ranges[try ends.int4(row, 0)] else { continue }
                if range.upperBound < (try ends.int8(row, 1)) { book.isRecreated = true }
            }
            if book.isRecreated { return book }
            let rows = try connection.query(
                "SELECT partition, disposition, offsets::text FROM dead_letter_dispositions WHERE topic = $1",
                [.text(bounds.topic)]
            )
            for row in 0..<rows.count {
                guard let disposition = Disposition(rawValue: try rows.text(row, 1)),
                    let ranges = OffsetRanges(text: try rows.text(row, 2))
                else { throw PostgresError(.decoding(column: "offsets"), "a disposition does not read") }
                book.offsets[try rows.int4(row, 0), default: [:]][disposition] = ranges
            }
            return book
        } catch {
            throw .database(error)
        }
    }

    /// Writes down where the partitions end, and forgets what was known of a topic that was made anew and of letters that are gone.
    ///
    /// Only by who holds the topic's lock.
    package func settle(_ bounds: TopicBounds, in connection: inout Connection) throws(DeadLettersError) {
        var partitions = ArrayParameter(of: .int4)
        var begins = ArrayParameter(of: .int8)
        var ends = ArrayParameter(of: .int8)
        for (partition, range) in bounds.ranges.sorted(by: { $0.key < $1.key }) {
            partitions.append(int4: partition)
            begins.append(int8: range.lowerBound)
            ends.append(int8: range.upperBound)
        }
        var pipeline = Pipeline()
        if isRecreated {
            pipeline.append("DELETE FROM dead_letter_dispositions WHERE topic = $1", [.text(topic)])
            pipeline.append(
                "UPDATE dead_letter_replays SET state = 'done' WHERE topic = $1 AND state <> 'done'",
                [.text(topic)]
            )
            pipeline.append("DELETE FROM dead_letter_partitions WHERE topic = $1", [.text(topic)])
        }
        pipeline.append(
            """
            INSERT INTO dead_letter_partitions (topic, partition, end_offset)
            SELECT $1, partition, end_offset FROM unnest($2::int4[], $3::int8[]) AS p (partition, end_offset)
            ON CONFLICT (topic, partition) DO UPDATE SET end_offset = excluded.end_offset
            """,
            [.text(topic), .array(partitions), .array(ends)]
        )
        pipeline.append(
            """
            UPDATE dead_letter_dispositions d SET offsets = d.offsets * int8multirange(int8range(p.first_offset, NULL))
            FROM unnest($2::int4[], $3::int8[]) AS p (partition, first_offset)
            WHERE d.topic = $1 AND d.partition = p.partition AND lower(d.offsets) < p.first_offset
            """,
            [.text(topic), .array(partitions), .array(begins)]
        )
        do throws(PostgresError) { _ = try connection.run(pipeline) } catch { throw .database(error) }
    }

    /// Adds letters that are dealt with now.
    package static func add(
        _ offsets: [Int32: OffsetRanges],
        _ disposition: Disposition,
        topic: String,
        to connection: inout Connection
    ) throws(PostgresError) {
        var partitions = ArrayParameter(of: .int4)
        var ranges = ArrayParameter(of: .text)
        for (partition, added) in offsets.sorted(by: { $0.key < $1.key }) where !added.isEmpty {
            partitions.append(int4: partition)
            ranges.append(text: added.text)
        }
        guard partitions.count > 0 else { return }
        try connection.execute(
            """
            INSERT INTO dead_letter_dispositions AS d (topic, partition, disposition, offsets)
            SELECT $1, partition, $2, offsets::int8multirange
            FROM unnest($3::int4[], $4::text[]) AS a (partition, offsets)
            ON CONFLICT (topic, partition, disposition) DO UPDATE SET offsets = d.offsets + excluded.offsets
            """,
            [.text(topic), .text(disposition.rawValue), .array(partitions), .array(ranges)]
        )
    }
}
