// Lanes tests
