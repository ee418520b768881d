// Hosting tests
