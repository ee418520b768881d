// LocalServices tests
