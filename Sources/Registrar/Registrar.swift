// Registrar
