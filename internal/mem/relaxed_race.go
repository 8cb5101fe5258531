//go:build race

package mem

import "sync/atomic"

// Load returns *w.
func Load(w *uint64) uint64 { return atomic.LoadUint64(w) }
