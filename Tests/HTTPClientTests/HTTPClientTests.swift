// HTTPClient tests
