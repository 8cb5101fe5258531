package merkle

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// A group is 64 leaves with the nodes above them, a subtree that one worker hashes at a time.
const (
	groupLevel  = 6
	groupLeaves = 1 << groupLevel
)

// Root returns the root of n leaves. With at most one worker the caller's goroutine does all
// work, with h; otherwise up to that many goroutines do it, at most twice GOMAXPROCS, and end
// before Root returns.
func Root(h *Hasher, n uint64, workers int, leaf Leaves) Hash {
	groups := numGroups(n)
	if groups < 2 || numWorkers(workers) == 1 {
		return subtree(h, 0, n, leaf)
	}
	roots := make([]Hash, groups)
	parallel(h, groups, workers, func(h *Hasher, g uint64) {
		roots[g] = subtree(h, g*groupLeaves, min(n, (g+1)*groupLeaves), leaf)
	})
	var f Frontier
	for _, r := range roots {
		f.Add(h, r)
	}
	return f.Root(h)
}

// RootOfBytes returns the root of data in leaves of leafBytes bytes, the last one shorter.
// Workers are those of [Root].
func RootOfBytes(data []byte, leafBytes, workers int) Hash {
	n := (len(data) + leafBytes - 1) / leafBytes
	return Root(NewHasher(), uint64(n), workers, func(h *Hasher, i uint64) Hash {
		rest := data[int(i)*leafBytes:]
		return h.Leaf(rest[:min(leafBytes, len(rest))])
	})
}

// subtree returns the root of the leaves from number from up to end.
func subtree(h *Hasher, from, end uint64, leaf Leaves) Hash {
	var f Frontier
	for i := from; i < end; i++ {
		f.Add(h, leaf(h, i))
	}
	return f.Root(h)
}

func numGroups(leaves uint64) uint64 { return leaves/groupLeaves + min(1, leaves%groupLeaves) }

// numWorkers bounds the number of workers by twice GOMAXPROCS. More gain nothing.
func numWorkers(workers int) int { return max(1, min(workers, 2*runtime.GOMAXPROCS(0))) }

// parallel calls do for each number below n, on several goroutines if there are several
// workers. The caller's goroutine is one of them and uses h.
func parallel(h *Hasher, n uint64, workers int, do func(h *Hasher, i uint64)) {
	var next atomic.Uint64
	var panicked atomic.Pointer[any] // of another goroutine
	work := func(h *Hasher) {
		for i := next.Add(1) - 1; i < n; i = next.Add(1) - 1 {
			do(h, i)
		}
	}
	var group sync.WaitGroup
	for range min(uint64(numWorkers(workers)), n) - min(1, n) {
		group.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					panicked.Store(&v)
				}
			}()
			work(NewHasher())
		})
	}
	func() {
		defer group.Wait()
		work(h)
	}()
	if v := panicked.Load(); v != nil {
		panic(*v) // so that the caller may recover
	}
}
