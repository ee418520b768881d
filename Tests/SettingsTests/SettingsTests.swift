// Settings tests
