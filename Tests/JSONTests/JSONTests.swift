// JSON tests
