// DispatchWorker tests
