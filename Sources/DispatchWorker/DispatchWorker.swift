// DispatchWorker
