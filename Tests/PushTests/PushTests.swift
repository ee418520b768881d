// Push tests
