package faults

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/umbel-filters/umbel/research/interop/internal/proc"
)

// TestKill kills a node at random moments while clients add keys, starts it again, and queries all
// acknowledged keys. Meanwhile the node makes snapshots and truncates its log.
func TestKill(t *testing.T) {
	for _, policy := range []struct {
		name string
		late time.Duration // acknowledgements of this last period may be lost
	}{{"always", 0}, {"everysec", time.Second}} {
		t.Run(policy.name, func(t *testing.T) {
			t.Parallel()
			flags := []string{"--durability", policy.name, "--snapshot-interval", "300ms", "--snapshot-bytes", "256KiB"}
			dir := t.TempDir()
			var kept acknowledged
			rounds := *kills
			if testing.Short() {
				rounds = 2
			}
			for round := range rounds {
				p := start(t, dir, flags...)
				c := dial(t, p)
				if round == 0 {
					makeFilters(t, c)
				}
				kept.check(t, c, round)
				lifetime := time.Duration(rand.Int64N(int64(400 * time.Millisecond)))
				if policy.late > 0 {
					lifetime += policy.late
				}
				kept.keep(addUntilKilled(t, p, round, lifetime), policy.late)
			}
			kept.checkAll(t, dial(t, start(t, dir, flags...)), rounds)
			t.Logf("%d kills, %d acknowledged additions, all present", rounds, kept.n())
		})
	}
}

// filters contains filters that are logged and copied by different methods.
var filters = []string{"scaling", "fixed", "bloom", "counting"}

// makeFilters makes the filters that are not made by their first addition.
func makeFilters(t *testing.T, c redis.Conn) {
	t.Helper()
	do(t, c, "BF.RESERVE", "fixed", "0.001", "5000000", "NONSCALING")
	do(t, c, "UM.MAKE", "bloom", "bloom", "KEYS", "5000000", "RATE", "0.001")
	do(t, c, "UM.MAKE", "counting", "counting", "KEYS", "1000000", "RATE", "0.001")
}

func addCommand(filter string) string {
	switch filter {
	case "scaling", "fixed":
		return "BF.ADD"
	}
	return "UM.ADD"
}

func hasCommand(filter string) string {
	switch filter {
	case "scaling", "fixed":
		return "BF.MEXISTS"
	}
	return "UM.HAS"
}

// entry contains additions that were acknowledged together.
type entry struct {
	filter string
	keys   []string
	sent   time.Time
	acked  time.Time // when the acknowledgement was received
}

// acknowledged contains the additions that a node must not lose.
type acknowledged struct {
	entries []entry
	checked int // number of entries that were checked after an earlier start
}

func (a *acknowledged) n() (n int) {
	for _, e := range a.entries {
		n += len(e.keys)
	}
	return n
}

// keep adds the entries of one run of a node, except those of the last period late.
func (a *acknowledged) keep(entries []entry, late time.Duration) {
	var last time.Time // the node acknowledged an addition at this time or later
	for _, e := range entries {
		if e.sent.After(last) {
			last = e.sent
		}
	}
	for _, e := range entries {
		if late == 0 || e.acked.Before(last.Add(-late)) {
			a.entries = append(a.entries, e)
		}
	}
}

// check queries all keys that were not checked before, and some of the others.
func (a *acknowledged) check(t *testing.T, c redis.Conn, round int) {
	t.Helper()
	var some []entry
	for _, e := range a.entries[:a.checked] {
		if rand.IntN(16) == 0 {
			some = append(some, e)
		}
	}
	some = append(some, a.entries[a.checked:]...)
	a.checked = len(a.entries)
	checkEntries(t, c, some, round)
}

// checkAll queries all keys.
func (a *acknowledged) checkAll(t *testing.T, c redis.Conn, round int) {
	t.Helper()
	checkEntries(t, c, a.entries, round)
}

// checkEntries queries keys, and adds some of them again, which must report them as present.
func checkEntries(t *testing.T, c redis.Conn, entries []entry, round int) {
	t.Helper()
	for _, filter := range filters {
		var keys []any
		for _, e := range entries {
			if e.filter != filter {
				continue
			}
			for _, k := range e.keys {
				keys = append(keys, k)
			}
		}
		for part := range slices.Chunk(keys, 10_000) {
			replies, err := redis.Ints(c.Do(hasCommand(filter), append([]any{filter}, part...)...))
			if err != nil {
				t.Fatalf("round %d, %s: %v", round, filter, err)
			}
			for i, present := range replies {
				if present != 1 {
					t.Fatalf("round %d: %s was added to %s and acknowledged, but is missing", round, part[i], filter)
				}
			}
			if filter == "counting" {
				continue // adding again would count again
			}
			again := part[:min(100, len(part))]
			for _, k := range again {
				c.Send(addCommand(filter), filter, k)
			}
			c.Flush()
			for _, k := range again {
				if added, err := redis.Int(first(c.Receive())); err != nil || added != 0 {
					t.Fatalf("round %d: %s was added to %s and acknowledged, but can be added again: %d, %v", round, k, filter, added, err)
				}
			}
		}
	}
}

// first returns the first element of an array, and any other reply unchanged.
func first(reply any, err error) (any, error) {
	if a, ok := reply.([]any); ok && len(a) > 0 {
		return a[0], err
	}
	return reply, err
}

// addUntilKilled is addUntil with a node that is killed after lifetime.
func addUntilKilled(t *testing.T, p *proc.Proc, round int, lifetime time.Duration) []entry {
	t.Helper()
	return addUntil(t, p, round, func() {
		time.Sleep(lifetime)
		p.Kill()
	})
}

// addUntil adds new keys over several connections while end runs, which must end the node. It
// returns the acknowledged entries.
func addUntil(t *testing.T, p *proc.Proc, round int, end func()) (all []entry) {
	t.Helper()
	var mu sync.Mutex
	var clients sync.WaitGroup
	for client := range 4 {
		c := dial(t, p)
		clients.Go(func() {
			var mine []entry
			for i := 0; ; i++ {
				filter := filters[i%len(filters)]
				e := entry{filter: filter}
				for j := range 1 + rand.IntN(100) {
					e.keys = append(e.keys, fmt.Sprintf("%d.%d.%d.%d", round, client, i, j))
				}
				if !add(c, &e) {
					break
				}
				mine = append(mine, e)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, mine...)
		})
	}
	end()
	clients.Wait()
	return all
}

// add adds the keys in one pipeline and reports whether all were acknowledged.
func add(c redis.Conn, e *entry) bool {
	e.sent = time.Now()
	for _, k := range e.keys {
		c.Send(addCommand(e.filter), e.filter, k)
	}
	if c.Flush() != nil {
		return false
	}
	for range e.keys {
		if _, err := c.Receive(); err != nil {
			return false
		}
	}
	e.acked = time.Now()
	return true
}
