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

// TestKill kills a node at random moments while clients add, starts it again, and asks for all
// that was acknowledged. Snapshots are made and the log is cut all the while.
func TestKill(t *testing.T) {
	for _, policy := range []struct {
		name string
		late time.Duration // what was acknowledged so long before the last acknowledgement may be lost
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
			t.Logf("%d kills, %d additions acknowledged, all there", rounds, kept.n())
		})
	}
}

// filters are of kinds that are logged and copied in unlike ways.
var filters = []string{"scaling", "fixed", "bloom", "counting"}

// makeFilters makes those that the first addition doesn't.
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

// entry is additions that were acknowledged together.
type entry struct {
	filter string
	keys   []string
	sent   time.Time
	told   time.Time // when the acknowledgement was there
}

// acknowledged is what a node has promised to keep.
type acknowledged struct {
	entries []entry
	checked int // so many of them were there after some start
}

func (a *acknowledged) n() (n int) {
	for _, e := range a.entries {
		n += len(e.keys)
	}
	return n
}

// keep takes the entries of a node's life, but for those of its last moments if late isn't 0.
func (a *acknowledged) keep(entries []entry, late time.Duration) {
	var last time.Time // the node acknowledged something then, or later
	for _, e := range entries {
		if e.sent.After(last) {
			last = e.sent
		}
	}
	for _, e := range entries {
		if late == 0 || e.told.Before(last.Add(-late)) {
			a.entries = append(a.entries, e)
		}
	}
}

// check asks for all keys that weren't asked for before and some of those that were.
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

// checkAll asks for all keys.
func (a *acknowledged) checkAll(t *testing.T, c redis.Conn, round int) {
	t.Helper()
	checkEntries(t, c, a.entries, round)
}

// checkEntries asks for keys; and adds some of them again, which must not be news.
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
			answers, err := redis.Ints(c.Do(hasCommand(filter), append([]any{filter}, part...)...))
			if err != nil {
				t.Fatalf("round %d, %s: %v", round, filter, err)
			}
			for i, yes := range answers {
				if yes != 1 {
					t.Fatalf("round %d: %s was added to %s and acknowledged, and is gone", round, part[i], filter)
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
				if news, err := redis.Int(first(c.Receive())); err != nil || news != 0 {
					t.Fatalf("round %d: %s was added to %s and acknowledged, and is news: %d, %v", round, k, filter, news, err)
				}
			}
		}
	}
}

// first returns the first element of an array, and what isn't an array as it is.
func first(answer any, err error) (any, error) {
	if a, ok := answer.([]any); ok && len(a) > 0 {
		return a[0], err
	}
	return answer, err
}

// addUntilKilled is addUntil a node is killed, after so long.
func addUntilKilled(t *testing.T, p *proc.Proc, round int, lifetime time.Duration) []entry {
	t.Helper()
	return addUntil(t, p, round, func() {
		time.Sleep(lifetime)
		p.Kill()
	})
}

// addUntil adds new keys from several connections while the end comes, and returns what was
// acknowledged.
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
	e.told = time.Now()
	return true
}
