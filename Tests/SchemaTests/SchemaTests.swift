// Schema tests
