// EncryptWorker tests
