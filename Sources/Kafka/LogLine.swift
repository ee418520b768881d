/// One line that librdkafka had to say, with secrets taken out.
package struct LogLine: Sendable, Equatable {
    /// As syslog counts: 0 emergency … 3 error, 4 warning, 5 notice, 6 information, 7 debug.
    package let level: Int32
    /// librdkafka's short mark of the place, such as `FAIL` or `REQTMOUT`.
    package let facility: String
    package let text: String
}

/// Where log lines go.
///
/// It is called inside the owner's own poll, never on a thread of librdkafka.
package typealias LogSink = @Sendable (LogLine) -> Void
