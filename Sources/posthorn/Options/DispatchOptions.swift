internal import DispatchWorker
internal import Push
internal import Settings

/// How notifications are sent, and every bound of that.
enum DispatchOptions {
    // MARK: - Sending

    static let batchItems = Option(
        "batch-size",
        .integer(in: 1...100, unit: "notifications"),
        default: 100,
        environment: "POSTHORN_DISPATCH_BATCH_SIZE",
        help: "Notifications in one request to a gateway; every gateway takes 100."
    )
    static let batchBytes = Option(
        "batch-bytes",
        .bytes(in: .kilobytes(8) ... .megabytes(8)),
        default: ByteCount(BatchFrame.maximumBytes),
        environment: "POSTHORN_DISPATCH_BATCH_BYTES",
        help: "Bytes of one request; every gateway takes 256000."
    )
    static let linger = Option(
        "linger",
        .duration(in: .zero ... .seconds(5)),
        default: .milliseconds(5),
        environment: "POSTHORN_DISPATCH_LINGER",
        help: "How long a notification waits for company before its request leaves."
    )
    static let requestTimeout = Option(
        "request-timeout",
        .duration(in: .seconds(1) ... .seconds(29)),
        default: .seconds(20),
        environment: "POSTHORN_DISPATCH_REQUEST_TIMEOUT",
        help:
            "How long a gateway may take to answer; below the 30 s after which a stuck one answers by itself."
    )
    static let connectTimeout = Option(
        "connect-timeout",
        .duration(in: .milliseconds(100) ... .seconds(29)),
        default: .seconds(5),
        environment: "POSTHORN_DISPATCH_CONNECT_TIMEOUT",
        help: "How long resolving a name, connecting and the TLS handshake may take together."
    )

    static let sending = OptionGroup(
        "Sending",
        batchItems,
        batchBytes,
        linger,
        requestTimeout,
        connectTimeout
    )

    // MARK: - Bounds

    static let inFlightRecords = Option(
        "in-flight",
        .integer(in: 100...1_000_000, unit: "notifications"),
        default: 10_000,
        environment: "POSTHORN_DISPATCH_IN_FLIGHT",
        help: "Notifications that a lane holds at most; then it reads no further."
    )
    static let inFlightBytes = Option(
        "in-flight-bytes",
        .bytes(in: .megabytes(1) ... .megabytes(4096)),
        default: .megabytes(48),
        environment: "POSTHORN_DISPATCH_IN_FLIGHT_BYTES",
        help: "Memory for notifications that a lane holds at most, likewise."
    )
    static let gatewayRecords = Option(
        "gateway-in-flight",
        .integer(in: 100...1_000_000, unit: "notifications"),
        default: 4000,
        environment: "POSTHORN_DISPATCH_GATEWAY_IN_FLIGHT",
        help:
            "Notifications that a lane holds for one gateway at most; beyond it new ones go to the first retry topic if the gateway is slow."
    )
    static let gatewayRequests = Option(
        "gateway-requests",
        .integer(in: 1...100, unit: "requests"),
        default: 16,
        environment: "POSTHORN_DISPATCH_GATEWAY_REQUESTS",
        help:
            "Requests that a lane has under way to one gateway at most; fewer while the gateway does not keep up."
    )
    static let requests = Option(
        "requests",
        .integer(in: 1...10_000, unit: "requests"),
        default: 256,
        environment: "POSTHORN_DISPATCH_REQUESTS",
        help: "Requests that a lane has under way to all gateways at most."
    )
    static let patience = Option(
        "patience",
        .duration(in: .milliseconds(100) ... .seconds(60)),
        default: .milliseconds(500),
        environment: "POSTHORN_DISPATCH_PATIENCE",
        help: "How long one gateway may hold up others before its new notifications go to the retry topics."
    )
    static let offsetWindow = Option(
        "offset-window",
        .integer(in: 1000...10_000_000, unit: "notifications"),
        default: 100_000,
        environment: "POSTHORN_DISPATCH_OFFSET_WINDOW",
        help:
            "How far a partition is read past a notification that has not ended; so many at most are sent again after a crash."
    )
    static let recallAge = Option(
        "recall-after",
        .duration(in: .milliseconds(100) ... .seconds(600)),
        default: .seconds(2),
        environment: "POSTHORN_DISPATCH_RECALL_AFTER",
        help:
            "How long a request may keep a partition from being read beyond the offset window while others wait; then it is given up and its notifications go to the retry topics."
    )

    static let bounds = OptionGroup(
        "Bounds",
        inFlightRecords,
        inFlightBytes,
        gatewayRecords,
        gatewayRequests,
        requests,
        patience,
        offsetWindow,
        recallAge
    )

    // MARK: - Settings

    static func apply(_ values: Values, to settings: inout DispatchSettings) {
        settings.batchItems = values[batchItems]
        settings.batchBytes = values[batchBytes].bytes
        settings.linger = values[linger]
        settings.requestTimeout = values[requestTimeout]
        settings.connectTimeout = values[connectTimeout]
        settings.attempts = values[attempts]
        settings.retrySpread = Double(values[spread]) / 100
        settings.retryShelfBytes = values[retryMemory].bytes
        settings.commitInterval = values[commitInterval]
        settings.gatewayRefresh = values[gatewayRefresh]
        settings.certificateLook = values[certificateLook]
        settings.revocationGrace = values[revocationGrace]
        settings.outbound = outbound(values)
    }

    private static func outbound(_ values: Values) -> OutboundSettings {
        var outbound = OutboundSettings()
        outbound.maximumRecords = values[inFlightRecords]
        outbound.maximumBytes = values[inFlightBytes].bytes
        outbound.maximumRecordsPerDestination = values[gatewayRecords]
        outbound.maximumBatches = values[requests]
        outbound.inFlight = InFlightLimit.Settings(maximum: values[gatewayRequests])
        outbound.patience = values[patience]
        // A pause that can only be waited for would hold up all reading for as long as the gateway is broken.
        outbound.waitablePause = min(values[breakerWait], values[breakerPauseMax] / 2)
        outbound.offsetWindow = values[offsetWindow]
        outbound.recallAge = values[recallAge]
        outbound.breaker.failures = values[breakerFailures]
        outbound.breaker.pause = values[breakerPause]
        outbound.breaker.maximumPause = values[breakerPauseMax]
        return outbound
    }
}
