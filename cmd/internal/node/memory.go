package node

import (
	"math"
	"os"
	"runtime/debug"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/memory"
)

// memoryLimit returns how many bytes filters may take, 0 for any number: for auto three quarters of
// what the machine, the control group or GOMEMLIMIT leaves beside the bytes that they use now. It is
// never more than there can be, for Go ends a process that asks for that.
func memoryLimit(m Memory, used uint64) uint64 {
	if !m.Auto {
		limit := uint64(m.Bytes)
		if all, ok := memory.Most(); ok && (limit == 0 || limit > all) {
			limit = all
		}
		return limit
	}
	n, ok := memory.Available()
	if !ok {
		n = math.MaxInt64
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		n = min(n, uint64(debug.SetMemoryLimit(-1)))
	}
	if n == math.MaxInt64 {
		return 0
	}
	return (n + used) / 4 * 3
}

// bound makes the collector keep the process near the size of its filters: without a bound it
// would let as much garbage come together as there is in use. Who sets GOMEMLIMIT knows better.
func bound(limit uint64) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	most := uint64(math.MaxInt64)
	if limit > 0 && limit < most/2 {
		const rest = 512 << 20 // of all that isn't filters
		most = limit + limit/8 + rest
	}
	debug.SetMemoryLimit(int64(most))
}

// garbage is how much comes together, about, before the collector runs. Left to itself it
// would let as much come together as is in use: filters would take twice their memory. It has
// next to nothing to do for them, cells being without pointers.
const garbage = 64 << 20

// garbagePercent is that garbage as a part of filters of so many bytes, within what does a collector
// good.
func garbagePercent(used uint64) int {
	return int(min(max(garbage*100/max(used, 1), 5), 100))
}

// tidy has the collector run as often as the filters ask for, and returns the percentage. was is the
// one in force: setting it stops the process for a moment. Who sets GOGC knows better.
func (n *Node) tidy(was int) int {
	used, _ := n.engine.Memory()
	percent := garbagePercent(used)
	if percent != was && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
	return percent
}

const (
	// houseEvery is how often what is over is looked for.
	houseEvery = 500 * time.Millisecond
	// sweepStep is how many filters are forgotten in one go.
	sweepStep = 256
	// freed is how much memory filters have to give back for the system to get it at once.
	freed = 64 << 20
)

// keepHouse begins what goes on in the background.
func (n *Node) keepHouse() {
	n.tasks.Go(func() { n.every(houseEvery, n.sweep) })
	most := uint64(0)
	n.tasks.Go(func() { n.every(20*houseEvery, func() { most = n.giveBack(most) }) })
	if n.metrics != nil {
		n.tasks.Go(func() { n.metrics.Survey(n.working) })
	}
	if n.tls != nil {
		n.tasks.Go(func() { n.tls.Watch(n.working, n.log) })
	}
}

// every calls do again and again until the node ends.
func (n *Node) every(d time.Duration, do func()) {
	t := time.NewTicker(d)
	defer t.Stop()
	for {
		select {
		case <-n.working.Done():
			return
		case <-t.C:
			do()
		}
	}
}

// sweep forgets filters whose time is over. Where that can't be kept they go later; nobody
// sees them meanwhile.
func (n *Node) sweep() {
	for n.working.Err() == nil {
		if k, err := n.engine.Sweep(sweepStep); err != nil || k < sweepStep {
			return
		}
	}
}

// giveBack returns memory to the system when much of it has become free since filters took the
// most, and what the most is now.
func (n *Node) giveBack(most uint64) uint64 {
	used, _ := n.engine.Memory()
	if used+max(freed, used/8) > most {
		return max(used, most)
	}
	debug.FreeOSMemory()
	return used
}

// limit returns the bytes that filters may take.
func (n *Node) limit() uint64 {
	_, limit := n.engine.Memory()
	return limit
}
