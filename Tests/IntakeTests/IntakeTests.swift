// Intake tests
