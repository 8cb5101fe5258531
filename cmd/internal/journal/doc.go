// Package journal writes the changes of an engine to the log. Changes are queued in their order and
// written as batches by one goroutine, while the next one is collected. A second goroutine commits them:
// up to four batches are in flight.
//
// Nothing waits for the disk in Append: whoever changes filters for a client calls Room before, without
// locks, and Wait after. Journal.mu is the innermost lock; nothing is called with it held.
package journal
