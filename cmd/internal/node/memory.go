package node

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/engine/memory"
)

// memoryLimit returns the memory limit of all filters in bytes; 0 means no limit. For auto it is
// 75 % of what the machine, the control group or GOMEMLIMIT allows, including the used bytes. It
// is never more than the physical limit, because Go ends a process that exceeds it.
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

// minClientMemory is the least memory of requests that auto allows.
const minClientMemory = 256 << 20

// clientMemory returns the memory limit of all requests together in bytes; 0 means no limit. limit
// is that of all filters.
func clientMemory(m Memory, limit uint64) uint64 {
	switch {
	case !m.Auto:
		return uint64(m.Bytes)
	case limit == 0:
		return 0
	}
	return max(limit/8, minClientMemory)
}

// setGoMemoryLimit makes the garbage collector keep the process near the size of its filters.
// Otherwise garbage could reach the size of the live memory. GOMEMLIMIT takes precedence.
func setGoMemoryLimit(limit uint64) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	most := uint64(math.MaxInt64)
	if limit > 0 && limit < most/2 {
		const rest = 512 << 20 // everything but filters
		most = limit + limit/8 + rest
	}
	debug.SetMemoryLimit(int64(most))
}

const (
	// houseEvery is the interval of background work.
	houseEvery = 500 * time.Millisecond
	// sweepStep is the number of expired filters deleted per call of the engine.
	sweepStep = 256
	// freed is the amount of released memory that is returned to the system at once.
	freed = 64 << 20
)

// startBackground starts the background tasks.
func (n *Node) startBackground() {
	n.tasks.Go(func() { n.every(houseEvery, n.sweep) })
	if n.following == nil {
		n.tasks.Go(func() { n.every(houseEvery, n.followClock) })
	}
	n.tasks.Go(func() { n.every(2*houseEvery, n.limitFiles) })
	n.tasks.Go(func() { n.every(refusalsEvery, func() { n.growth.look(n.log) }) })
	most := uint64(0)
	n.tasks.Go(func() { n.every(20*houseEvery, func() { most = n.freeMemory(most) }) })
	trimmer := newTrimmer(heapReader(), release)
	n.tasks.Go(func() {
		n.every(2*houseEvery, func() {
			used, _ := n.engine.Memory()
			trimmer.trim(used)
		})
	})
	if n.metrics != nil {
		n.tasks.Go(func() { n.metrics.Survey(n.working) })
	}
	if n.tls != nil {
		n.tasks.Go(func() { n.tls.Watch(n.working, n.log) })
	}
}

// every calls do at an interval until the node stops.
func (n *Node) every(d time.Duration, do func()) { every(n.working, d, do) }

// every calls do at an interval until ctx is done.
func every(ctx context.Context, d time.Duration, do func()) {
	t := time.NewTicker(d)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			do()
		}
	}
}

// sweep deletes expired filters. If the journal accepts no changes it tries again later; expired
// filters are invisible meanwhile.
func (n *Node) sweep() {
	for n.working.Err() == nil {
		k, err := n.engine.Sweep(sweepStep)
		n.expired.Add(uint64(k))
		if err != nil || k < sweepStep {
			return
		}
	}
}

// followClock advances the windows whose time is that of the clock. If the journal accepts no changes it tries
// again later; keys then stay longer.
func (n *Node) followClock() { _ = n.engine.FollowClock(n.working) }

// freeMemory returns memory to the system if filters have released much of it since most, their
// maximum. It returns the new maximum.
func (n *Node) freeMemory(most uint64) uint64 {
	used, _ := n.engine.Memory()
	if used+max(freed, used/8) > most {
		return max(used, most)
	}
	debug.FreeOSMemory()
	return used
}

// limitFiles sets the limit of the copies of filters that are being sent: twice max-memory, and what
// max-disk leaves after the log and the next snapshot. Publications may take what max-disk does not need for the
// filters.
func (n *Node) limitFiles() {
	limit := 2 * n.limit()
	if n.disk.Limit() > 0 {
		left := max(n.copies.Used()+n.store.Spare(), 1) // 0 would be no limit
		if limit == 0 || limit > left {
			limit = left
		}
		n.shared.SetLimit(max(n.store.SpareForOthers(), 1))
	} else {
		n.shared.SetLimit(0)
	}
	n.copies.SetLimit(limit)
}

// limit returns the memory limit of all filters in bytes.
func (n *Node) limit() uint64 {
	_, limit := n.engine.Memory()
	return limit
}
