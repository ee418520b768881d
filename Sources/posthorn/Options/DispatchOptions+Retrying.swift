internal import Push
internal import Settings

/// What happens when a gateway fails, and how often a lane looks after its affairs.
extension DispatchOptions {
    static let attempts = Option(
        "attempts",
        .integer(in: 1...1000),
        default: RetrySchedule().maximumAttempts,
        environment: "POSTHORN_DISPATCH_ATTEMPTS",
        help: "How often a notification is tried before it is a dead letter, unless it expires before."
    )
    static let spread = Option(
        "retry-spread",
        .integer(in: 0...100, unit: "percent"),
        default: 10,
        environment: "POSTHORN_DISPATCH_RETRY_SPREAD",
        help: "How much longer than its delay a retry may wait, at random, so that not all come at once."
    )
    static let retryMemory = Option(
        "retry-memory",
        .bytes(in: .megabytes(1) ... .megabytes(4096)),
        default: .megabytes(16),
        environment: "POSTHORN_DISPATCH_RETRY_MEMORY",
        help: "Memory of a lane for retries that wait for their time; all others wait at the broker."
    )
    static let breakerFailures = Option(
        "breaker-failures",
        .integer(in: 1...1000, unit: "requests"),
        default: 5,
        environment: "POSTHORN_DISPATCH_BREAKER_FAILURES",
        help: "Requests in a row that must fail before nothing is sent to a gateway for a while."
    )
    static let breakerPause = Option(
        "breaker-pause",
        .duration(in: .milliseconds(100) ... .seconds(600)),
        default: .seconds(1),
        environment: "POSTHORN_DISPATCH_BREAKER_PAUSE",
        help: "Length of the first such while; it doubles as long as the gateway does not work."
    )
    static let breakerPauseMax = Option(
        "breaker-pause-max",
        .duration(in: .milliseconds(100) ... .seconds(3600)),
        default: .seconds(60),
        environment: "POSTHORN_DISPATCH_BREAKER_PAUSE_MAX",
        help: "Longest such while; a gateway that is mended gets notifications again after so long at most."
    )

    static let breakerWait = Option(
        "breaker-wait",
        .duration(in: .zero ... .seconds(60)),
        default: .seconds(2),
        environment: "POSTHORN_DISPATCH_BREAKER_WAIT",
        help: "Such whiles up to this are waited for; in longer ones notifications go to the retry topics."
    )

    static let retrying = OptionGroup(
        "Retrying",
        attempts,
        spread,
        retryMemory,
        breakerFailures,
        breakerPause,
        breakerPauseMax,
        breakerWait
    )

    // MARK: - Upkeep

    static let commitInterval = Option(
        "commit-interval",
        .duration(in: .milliseconds(10) ... .seconds(60)),
        default: .milliseconds(500),
        environment: "POSTHORN_DISPATCH_COMMIT_INTERVAL",
        help: "How often offsets are committed; so much is sent again after a crash."
    )
    static let gatewayRefresh = Option(
        "gateway-refresh",
        .duration(in: .milliseconds(100) ... .seconds(600)),
        default: .seconds(5),
        environment: "POSTHORN_DISPATCH_GATEWAY_REFRESH",
        help: "How often the operator's list of gateways is read again."
    )
    static let certificateLook = Option(
        "certificate-look",
        .duration(in: .milliseconds(100) ... .seconds(60)),
        default: .seconds(10),
        environment: "POSTHORN_DISPATCH_CERTIFICATE_LOOK",
        help: "How often certificate files are looked at; new ones are used for new connections."
    )
    static let revocationGrace = Option(
        "revocation-grace",
        .duration(in: .milliseconds(100) ... .seconds(60)),
        default: .seconds(3),
        environment: "POSTHORN_DISPATCH_REVOCATION_GRACE",
        help:
            "How long requests under way may take to end when partitions go to another lane, which waits for it."
    )

    static let upkeep = OptionGroup(
        "Upkeep",
        commitInterval,
        gatewayRefresh,
        certificateLook,
        revocationGrace
    )
}
