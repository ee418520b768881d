/// A complete answer, whatever its status.
package struct Response: Sendable {
    package var status: Int
    /// Those of the answer's headers that the client was told to keep, names in lower case, in order of arrival.
    package var headers: [HeaderField]
    package var body: [UInt8]
    package var timing: Timing
    package var version: Version

    package enum Version: Sendable, Equatable {
        case http1
        case http2
        case other
    }

    package struct Timing: Sendable {
        /// From the start to the first byte of the answer.
        package var firstByte: Duration
        /// From the start to the last byte of the answer.
        package var total: Duration
        /// No new connection had to be made.
        package var reusedConnection: Bool
    }

    /// The first value of a kept header; `name` in lower case.
    package func header(_ name: String) -> String? {
        headers.first { $0.name == name }?.value
    }
}

/// How a request ended, by the integer that it was started with.
package struct Completion: Sendable {
    package var id: UInt64
    package var result: Result<Response, Failure>
}
