// Registrar tests
