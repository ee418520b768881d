import LocalServices
import Support
import Testing

@Suite struct `Private servers` {
    @Test func `PostgreSQL keeps its data over a restart and leaves no folder behind`() throws {
        let folder: String
        do {
            let server = try PrivatePostgres()
            folder = server.socketFolder
            try server.psql("CREATE TABLE kept AS SELECT 1 AS one")
            server.stop(abruptly: true)
            try server.start()
            try server.psql("SELECT one / one FROM kept")
        }
        #expect(!Files.exists(folder))
    }

    @Test(.needsKafka) func `Kafka starts, answers its own tools and starts again`() throws {
        let broker = try KafkaService.own()
        let created = try broker.tool(
            "org.apache.kafka.tools.TopicCommand",
            ["--create", "--topic", "kept", "--partitions", "3"]
        )
        #expect(created.0 == .exited(0))
        broker.stop(abruptly: true)
        #expect(!broker.isRunning)
        try broker.start()
        let listed = try broker.tool("org.apache.kafka.tools.TopicCommand", ["--list"])
        #expect(listed.1.split(separator: "\n").contains("kept"))
    }
}
