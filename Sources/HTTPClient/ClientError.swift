/// A request that cannot be started, or a client that cannot go on.
package enum ClientError: Error, Sendable, Equatable, CustomStringConvertible {
    /// libcurl gives no handle, or an event loop call failed; `code` is a `CURLMcode`, 0 when there was none.
    case library(code: Int)
    /// The id belongs to a request in flight.
    case duplicateID(UInt64)
    /// A header's name or value holds what cannot stand in a header line.
    case invalidHeader
    /// The URL is not `https://…`, nor `http://…` where that is allowed, or it is empty.
    case invalidURL
    /// libcurl does not take an option; `code` is a `CURLcode`.
    case option(code: Int)

    package var isRetriable: Bool { false }

    package var description: String {
        switch self {
        case .library(let code): "HTTP client library failed (\(code))"
        case .duplicateID(let id): "request \(id) is in flight already"
        case .invalidHeader: "request header not well-formed"
        case .invalidURL: "request URL not permitted"
        case .option(let code): "HTTP client option not accepted (\(code))"
        }
    }
}
