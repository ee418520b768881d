// EncryptWorker
