internal import HTTPClient
internal import Lanes
internal import Push
internal import Registrar
internal import Telemetry

/// The lane keeps up with the operator's list of gateways and with their certificate files.
extension DispatchLane {
    /// Reads the list of gateways again; without the database the old one stays.
    mutating func refreshGateways() {
        guard database.isWorthTrying else { return }
        nextRefresh = Monotonic.deadline(after: settings.gatewayRefresh)
        do throws(RegistrarError) {
            try gateways.refresh(from: &database)
        } catch {
            log.warning("database_away", ["error": .description(of: error)])
        }
        health.set(.databaseAway, !gateways.isKnown)
        for (origin, fault) in gateways.takeFaults() {
            metrics.gateway(origin.text).certificateFault(fault != nil)
            if let fault {
                log.error(
                    "certificate_files_unusable",
                    ["gateway": .text(origin.text), "error": .description(of: fault)]
                )
            } else {
                log.info("certificate_files_in_use", ["gateway": .text(origin.text)])
            }
        }
    }
}
