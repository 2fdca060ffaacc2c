package storage

// Store is one database file. Its methods may be called from any goroutine.
type Store struct{}
