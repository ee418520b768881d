// LocalServices
