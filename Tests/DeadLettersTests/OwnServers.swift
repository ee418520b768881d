import Glibc
import LocalServices
import Support
import Synchronization

/// Servers that a test may stop and start again: one of each for all such tests, since a start takes seconds.
enum OwnServers {
    private static let running = Mutex<(broker: PrivateKafka?, database: PrivatePostgres?)>((nil, nil))

    static func broker() throws -> PrivateKafka {
        try running.withLock { running in
            if let broker = running.broker { return broker }
            let broker = try KafkaService.own(settings: KafkaService.fastFailover)
            running.broker = broker
            releaseAtExit()
            return broker
        }
    }

    static func database() throws -> PrivatePostgres {
        try running.withLock { running in
            if let database = running.database { return database }
            let database = try PrivatePostgres()
            running.database = database
            releaseAtExit()
            return database
        }
    }

    /// Statics are never released; without this the servers' folders would stay behind.
    private static func releaseAtExit() {
        atexit { OwnServers.running.withLock { $0 = (nil, nil) } }
    }
}
