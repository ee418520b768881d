// Simulation tests
