// Postgres tests
