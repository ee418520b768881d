import Crdkafka

/// Keeps a consumer's read-ahead going although its queue is small.
///
/// librdkafka stops fetching while its queue is full or a partition is paused, and looks again only when something happens on a broker's
/// connection or a second has passed. A lane that empties the queue in less reads no more than a queue's worth a second (34,000
/// notifications with the 64 MB that librdkafka allows itself), and one that resumes a partition waits for a second. So the brokers'
/// threads are woken whenever a quarter of the queue was taken, and after a resumption until records come; then 16 MB or 20,000 records
/// suffice.
///
/// Later versions have the property `fetch.queue.backoff.ms` for the half of it.
/// Source: librdkafka 2.0.2, `rd_kafka_toppar_fetch_decide` and `rd_kafka_broker_consumer_serve`; its issue 2879.
struct ReadAhead {
    static let defaultKilobytes = 16_384
    static let defaultRecords = 20_000
    /// After so long librdkafka looks by itself.
    private static let ownLook = Duration.seconds(1)

    private let byteStride: Int
    private let recordStride: Int
    private var taken = (bytes: 0, records: 0)
    private var resumption: Deadline?
    private let user: String
    private let password: String

    init(_ configuration: Configuration) {
        func number(_ property: String, _ standard: Int) -> Int {
            max(configuration[property].flatMap { Int($0) } ?? standard, 4)
        }
        byteStride = number("queued.max.messages.kbytes", Self.defaultKilobytes) * 1024 / 4
        recordStride = number("queued.min.messages", Self.defaultRecords) / 4
        // Without SASL, or with a mechanism that has neither, these are never looked at; they must only be there.
        user = configuration["sasl.username"] ?? "-"
        password = configuration["sasl.password"] ?? "-"
    }

    /// Notes that partitions were resumed: what takes effect, and when, is up to another thread.
    mutating func resumed() {
        resumption = Deadline(in: Self.ownLook)
    }

    /// Notes what a look into the queue brought; wakes the brokers' threads if they may have something to do.
    mutating func took(records: Int, bytes: Int, _ client: borrowing Client) {
        taken.records += records
        taken.bytes += bytes
        if let deadline = resumption {
            if records == 0 { wake(client) }
            if records > 0 || deadline.hasPassed { resumption = nil }
        }
        if taken.records >= recordStride || taken.bytes >= byteStride {
            taken = (0, 0)
            wake(client)
        }
    }

    /// The only call that does no more than wake the brokers' threads is the one that sets the credentials: here to what they are.
    ///
    /// The corresponding C function is `rd_kafka_sasl_set_credentials`.
    private func wake(_ client: borrowing Client) {
        if let error = unsafe rd_kafka_sasl_set_credentials(client.pointer, user, password) {
            unsafe rd_kafka_error_destroy(error)
        }
    }
}
