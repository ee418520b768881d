// Device tests
