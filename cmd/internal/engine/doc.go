// Package engine keeps named filters of any kind in memory: what every protocol of a
// node calls, once a batch. It knows no kind (it is given umbel.Kinds), reads no clock
// (it is given one) and does no I/O: what changed is told to a [Journal].
//
// # Locks
//
// They are taken in this order, each seldom held for long:
//
//	Engine.directory   who makes, renames or ends filters
//	Filter.changes     shared: additions that run beside each other; else: one change,
//	                   or a look at all of the filter
//	Filter.cells       shared: questions; else: a change that they can't run beside
//	Engine.index       the filters by name
//
// A question takes the last two, shared. Who writes to the journal holds Filter.changes,
// and not Filter.cells: questions go on while a journal has no room.
//
// # Classes
//
// Keys have no class here. A weighted filter (umbel.Classifier) is added to with the most
// cells of any class and asked for the fewest, unless its own table of digests knows
// better: no key is lost, and what classes save isn't gained.
package engine
