internal import HTTPServer
internal import JSON
internal import Push

/// The error bodies of the framework that gematik's own gateway is built on.
enum FrameworkAnswer {
    static func error(_ status: Int, path: String, now: Timestamp) -> Response {
        var writer = Writer()
        writer.object { writer in
            writer.member("timestamp", now.rfc3339)
            writer.member("status", status)
            writer.member("error", reason(status))
            writer.member("path", path)
        }
        return Response(
            status: status,
            headers: [HeaderField("content-type", "application/json")],
            body: writer.bytes
        )
    }

    /// The one fault that it names.
    static func duplicates(_ ids: [String]) -> Response {
        var writer = Writer()
        writer.object { writer in
            writer.member("error", "Duplicate notification IDs in batch")
            writer.name("details")
            writer.object { writer in
                writer.name("max_batch_size")
                writer.null()
                writer.name("max_notification_size_kb")
                writer.null()
                writer.name("duplicate_ids")
                writer.array { writer in for id in ids { writer.string(id) } }
            }
        }
        return Response(
            status: 400,
            headers: [HeaderField("content-type", "application/json")],
            body: writer.bytes
        )
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 413: "Payload Too Large"
        case 415: "Unsupported Media Type"
        case 429: "Too Many Requests"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        default: "Http Status \(status)"
        }
    }
}
