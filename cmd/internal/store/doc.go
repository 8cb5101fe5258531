// Package store keeps an engine's filters on disk: it is the engine's journal, writes what
// changed to the log in groups, copies filters to blobs so that the log can be cut, and
// makes the filters again at the start.
//
// Changes are queued in the order in which they happen (queue.go), and written by one
// goroutine, a batch at a time, while the next one gathers (keep.go). record.go has the
// batches' format, replay.go reads it.
//
// A snapshot (snapshot.go) is made while filters change: each copy has all changes up to one
// position and none behind another, and the log from the smallest of these on makes them
// equal again. Its batches are kept back to what the snapshot before the last needs: where a
// copy can't be read the one before is taken, with more of the log (recover.go, apply.go).
//
// What can't be read at all stops the start. Who accepts the loss gets filters that are
// hidden: they take all keys for their own until they are made anew, as an answer of no
// might be wrong. Cells that are lost hide their filter, batches that are lost all filters
// that they may have been about. Filters that were made in such a batch aren't known.
//
// Locks are taken in this order: those of the engine, then queue.mu. Nothing of the engine
// is called with queue.mu held. Store.snapping comes before both.
package store
