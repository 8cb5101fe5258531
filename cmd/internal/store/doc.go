// Package store makes the filters of an engine durable. It is the engine's journal: it writes changes to
// the log in batches, copies filters to files (package snapfile) so that the log can be truncated, and restores the filters
// at the start.
//
// Changes are queued in their order (package journal) and written by one goroutine, one batch at a time, while
// the next one is collected (keep.go). record.go defines the format of batches, replay.go reads it.
//
// A snapshot (snapshot.go) is taken while filters change. Each copy contains all changes up to one
// position and none after another; replaying the log from the lowest of these positions completes the
// copies. The log keeps the batches that the previous snapshot needs: if a copy cannot be read, the
// previous copy and more of the log are used (recover.go, apply.go).
//
// Unreadable data stops the start. If the loss is accepted, the affected filters become incomplete: every
// query returns true until they are made again, because false might be wrong. Lost cells affect their
// filter; lost batches affect all filters that they may have changed. Filters that were made in a lost
// batch are unknown.
//
// Lock order: Store.snapping, the locks of the engine, Journal.mu. The engine is not called with
// Journal.mu held. Append never waits; Room and Begin, which wait while the queue is full, are called without locks.
package store
