//go:build race

package relaxed

import "sync/atomic"

// Load returns *w.
func Load(w *uint64) uint64 { return atomic.LoadUint64(w) }
