// Package engine holds named filters of any kind in memory. All protocols of a node call it, once per
// batch of keys. It is given the kinds and a clock, and it does no I/O: it passes changes to a [Journal].
//
// # Locks
//
// Locks are acquired in this order:
//
//	Engine.directory   creates, renames or deletes filters
//	Filter.changes     shared: concurrent additions; exclusive: one change, or a
//	                   reader of the whole filter
//	Filter.cells       shared: queries; exclusive: a change that excludes queries
//	Engine.index       the maps of filters
//
// A query acquires the last two, shared. A writer to the journal holds Filter.changes but not
// Filter.cells, so queries continue while the journal has no room.
//
// # Classes
//
// Keys have no class here. Unless the filter's own table of digests has a key, a weighted filter
// (umbel.Classifier) adds it with the most cells of any class and queries the fewest. There is no false
// negative, but the savings of classes are lost.
package engine
