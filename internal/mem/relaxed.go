//go:build !race

package mem

// Load returns *w, which other goroutines may change by atomic operations, without ordering the load: a relaxed
// atomic load, in the terms of C11. It sees all stores that happened before it, and perhaps some that run at the
// same time; on machines with words of 32 bits each half is loaded on its own. With the race detector it is an atomic load.
//
// sync/atomic orders its loads. On arm64 such a load is a load-acquire, before whose end the processor begins no later
// load, so that the cache misses of a query follow each other instead of overlapping. A query of a filter needs no
// order: its bits are only ever set, and it must see those whose additions happened before it, as every load does.
func Load(w *uint64) uint64 { return *w }
