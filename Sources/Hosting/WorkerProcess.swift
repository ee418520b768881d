internal import Glibc
package import Lanes
package import Telemetry

/// The life of a worker: lanes run until a signal or a failure, then drain, and the exit code tells how it went.
///
///     run ──▶ serving ──SIGTERM, SIGINT or a failed lane──▶ draining ──▶ drained (0) | deadline exceeded (75) | failed
///                                                              └─ second signal: ends at once (128 + its number)
///
/// A lane that did not end in time still runs when ``run(exitCode:body:)`` returns; the process must then end by `_exit`.
package struct WorkerProcess: Sendable {
    package struct Configuration: Sendable {
        /// What the lanes do, such as `encrypt`; lanes and their threads are named after it.
        package var role: String
        /// From 1.
        package var lanes: Int
        /// How long lanes may take to end once they are told to.
        package var drainDeadline: Duration
        /// A lane that does not turn for longer counts as stuck.
        package var stuckAfter: Duration
        /// What a failed lane means to the others.
        package var goesOnAfterFailure: Bool
        /// Where metrics and health are served; nil serves none.
        ///
        /// Port 0 lets the system choose.
        package var admin: (host: String, port: UInt16)?

        package init(
            role: String,
            lanes: Int,
            drainDeadline: Duration = .seconds(25),
            stuckAfter: Duration = .seconds(60),
            goesOnAfterFailure: Bool = false,
            admin: (host: String, port: UInt16)? = nil
        ) {
            self.role = role
            self.lanes = lanes
            self.drainDeadline = drainDeadline
            self.stuckAfter = stuckAfter
            self.goesOnAfterFailure = goesOnAfterFailure
            self.admin = admin
        }
    }

    private let configuration: Configuration
    private let log: Log
    private let registry: Registry

    package init(_ configuration: Configuration, log: Log, registry: Registry) {
        self.configuration = configuration
        self.log = log
        self.registry = registry
    }

    /// Runs the lanes to their end.
    ///
    /// - Parameters:
    ///   - exitCode: What a lane's failure means to who started the process.
    ///   - body: Runs from start to end of a lane.
    /// - Returns: The code to exit with.
    /// - Throws: ``HostingError`` when it cannot start: nothing ran then.
    package func run<Failure: Error & CustomStringConvertible>(
        exitCode: (Failure) -> ExitCode,
        body: @escaping LaneGroup<Void, Failure>.Body
    ) throws(HostingError) -> ExitCode {
        let signals = try TerminationSignals()
        let statuses = LaneStatus.lanes(named: configuration.role, count: configuration.lanes)
        let stop = try HostingError.system { () throws(LaneError) in try StopFlag() }
        let admin = try startAdmin(statuses, stop)
        let group = try HostingError.system { () throws(LaneError) in
            try LaneGroup(
                statuses,
                policy: configuration.goesOnAfterFailure ? .goOn : .stopOthers,
                stop: stop,
                body: body
            )
        }
        log.info("worker started", ["lanes": .integer(configuration.lanes)])
        serve(signals, stop, group.endDescriptor)
        stop.raise()
        let outcomes = group.join(within: configuration.drainDeadline)
        let code = judge(outcomes, statuses, exitCode)
        // Until here it told that the process drains.
        _ = consume admin
        log.reportSuppressed()
        return code
    }

    private func startAdmin(_ statuses: [LaneStatus], _ stop: StopFlag) throws(HostingError) -> AdminServer? {
        registry.addLaneMetrics(statuses)
        guard let address = configuration.admin else { return nil }
        let routes = AdminRoutes(
            registry: registry,
            statuses: statuses,
            stop: stop,
            stuckAfter: configuration.stuckAfter
        )
        let server = try AdminServer(host: address.host, port: address.port, routes: routes)
        log.info("admin server listens", ["host": .text(address.host), "port": .integer(server.port)])
        return server
    }

    /// Waits for a signal, for a failed lane that stops the others, or for the end of all.
    private func serve(_ signals: borrowing TerminationSignals, _ stop: StopFlag, _ end: Int32) {
        var waiting = [signals.descriptor, stop.descriptor, end].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        while unsafe poll(&waiting, nfds_t(waiting.count), 1000) <= 0 {
            log.reportSuppressed()
        }
        if let signal = signals.take() {
            log.info(
                "draining",
                ["signal": .text(signal), "deadline": .duration(configuration.drainDeadline)]
            )
        }
    }

    private func judge<Failure: Error & CustomStringConvertible>(
        _ outcomes: [LaneGroup<Void, Failure>.Outcome],
        _ statuses: [LaneStatus],
        _ exitCode: (Failure) -> ExitCode
    ) -> ExitCode {
        var code = ExitCode.done
        for (outcome, status) in zip(outcomes, statuses) {
            switch outcome {
            case .finished: continue
            case .failed(let error):
                log.error("lane failed", ["lane": .text(status.name), "reason": .description(of: error)])
                if code == .done || code == .temporary { code = exitCode(error) }
            case .unfinished:
                log.error(
                    "drain deadline exceeded: lane still runs",
                    ["lane": .text(status.name), "since_turn": .duration(status.sinceLastTurn())]
                )
                if code == .done { code = .temporary }
            }
        }
        if code == .done { log.info("drained") }
        return code
    }
}
