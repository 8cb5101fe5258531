package main

import (
	"sync"
	"time"
)

// versions remembers the versions that were published. It is safe for concurrent use.
type versions struct {
	mu   sync.Mutex
	list []published // version v is at index v-1
}

// maxCosts is the number of versions whose costs are remembered, which bounds the memory. The list of
// changes of a subscriber that missed more versions lacks the older ones.
const maxCosts = 10_000

// published is a version.
type published struct {
	at    time.Time        // zero before the version is complete
	costs map[uint64]Costs // by fold class; nil for old versions
}

// begin states the costs of a version before subscribers can see it.
func (vs *versions) begin(v uint64, c map[uint64]Costs) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	vs.list = append(vs.list[:v-1], published{costs: c})
	if v > maxCosts {
		vs.list[v-1-maxCosts].costs = nil
	}
}

// complete states when a version was published.
func (vs *versions) complete(v uint64, at time.Time) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	vs.list[v-1].at = at
}

// last returns the number of the last version that is complete, 0 if there is none.
func (vs *versions) last() uint64 {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	n := len(vs.list)
	if n > 0 && vs.list[n-1].at.IsZero() {
		n--
	}
	return uint64(n)
}

// at returns when a version was published. It returns false if it is not complete yet.
func (vs *versions) at(v uint64) (time.Time, bool) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if v == 0 || v > uint64(len(vs.list)) {
		return time.Time{}, false
	}
	at := vs.list[v-1].at
	return at, !at.IsZero()
}

// costs returns the costs of a version for a receiver of a fold class that has an earlier one; have is 0 if
// it has none.
func (vs *versions) costs(have, v, fold uint64) Costs {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	c := vs.list[v-1].costs[fold]
	c.ListChanges = c.Lists
	if have > 0 {
		c.ListChanges = 0
		for _, p := range vs.list[min(have, v):v] {
			c.ListChanges += p.costs[fold].ListChanges
		}
	}
	return c
}
