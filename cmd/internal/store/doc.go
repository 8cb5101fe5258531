// Package store makes the filters of an engine durable. It opens a directory of data, schedules
// snapshots, leaves full disks, and closes everything in order. The parts are packages of their own, the
// lowest first:
//
//	statecode   encodes the shapes of states
//	changelog   encodes changes as batches
//	journal     queues changes and writes them to the log (oplog)
//	snapshot    copies filters to files (snapfile)
//	recovery    restores filters from snapshots and the log
//	backup      writes both to one stream, and reads it
//
// Lock order: snapshot.Taker.turn, the locks of the engine, Journal.mu. Append never waits; Room and Begin,
// which wait while the queue is full, are called without locks. docs/locks.md has the locks of all
// packages.
package store
