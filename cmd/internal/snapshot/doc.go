// Package snapshot copies the filters of an engine to files, and reads the copies.
//
// A snapshot is taken while filters change. Each copy contains all changes up to one position and none
// after another; replaying the log from the lowest of these positions completes the copies. Only
// segments whose checksum differs from the last snapshot are written. The log keeps the batches that the
// previous snapshot needs, so that it can replace a damaged one.
//
// Lock order: Taker.mu, the locks of the engine.
package snapshot
