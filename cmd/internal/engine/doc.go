// Package engine holds named filters of any kind in memory. All protocols of a node call it, once per
// batch of keys. It is given the kinds and a clock, and it does no I/O: it passes changes to a [Journal].
// Begin with engine.go and filter.go. Package operation is the table of the operations on whole filters, and memory reads the memory
// of the machine.
//
// # Locks
//
// Locks are acquired in this order:
//
//	Engine.directory   creates, renames or deletes filters
//	Filter.changes     shared: concurrent additions; exclusive: one change, or View
//	Filter.cells       shared: queries; exclusive: a change that excludes queries
//	Engine.index       the maps of filters
//
// A query acquires the last two, shared. No lock is held while something waits for the journal, and
// none for longer than a batch of keys or a segment takes, except that a filter is changed in place
// if there is no memory for a copy. A change of a whole filter makes other changes wait
// (extra.replacing), computes the new filter, queues it to the journal if it is large, and acquires
// the locks only to swap the filters. The creation of a large filter is queued before the directory
// is locked. A reader of a whole filter works on a copy, or makes changes of the cells wait
// (extra.frozen) without a lock. A protocol waits for room in the journal before it calls the engine.
//
// docs/locks.md has the locks of all packages.
//
// # Classes
//
// Keys have no class here. Unless the filter's own table of digests has a key, a weighted filter
// (umbel.Classifier) adds it with the most cells of any class and queries the fewest. There is no false
// negative, but the savings of classes are lost. A filter whose classes follow from prefixes of keys refuses removals.
package engine
