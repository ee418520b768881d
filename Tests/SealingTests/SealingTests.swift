// Sealing tests
