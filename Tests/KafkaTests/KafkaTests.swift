// Kafka tests
