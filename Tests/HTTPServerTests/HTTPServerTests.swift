// HTTPServer tests
