// Telemetry tests
