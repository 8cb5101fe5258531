package redisbloom_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/redis/redisbloom"
)

// An addition that CF.* acknowledged is counted, at every fill level, also immediately before
// the counters grow and if no slot is left.
func TestCuckooCountsEveryAddition(t *testing.T) {
	p := start(t, 0, redisbloom.Options{Cuckoo: true})
	for reserve, full := range map[string]bool{"8": true, "16": true, "64 EXPANSION 2": false, "100": false, "300 EXPANSION 0": true} {
		p.Expect("CF.RESERVE k "+reserve, "+OK")
		fillers, watched := items(100, 500), items(0, 50)
		times := make([]int, len(watched))
		refused := 0
		for i, filler := range fillers {
			p.Do("CF.ADD", "k", filler)
			at := i % len(watched)
			replies := p.Do("CF.ADD", "k", watched[at])
			if i%3 == 0 {
				replies += p.Do("CF.INSERT", "k", "ITEMS", watched[at], watched[at])
			}
			times[at] += strings.Count(replies, ":1")
			refused += strings.Count(replies, "-")
			p.wantCount("CF.COUNT", "k", watched[at], times[at], i+1)
		}
		if full != (refused > 0) {
			t.Errorf("CF.RESERVE %s: %d additions were refused", reserve, refused)
		}
		for at, item := range watched {
			for times[at] > 1 && p.Do("CF.DEL", "k", item) == ":1" {
				times[at]--
			}
			p.wantCount("CF.COUNT", "k", item, times[at], len(fillers))
			if got := p.Do("CF.EXISTS", "k", item); times[at] > 0 && got != ":1" {
				t.Errorf("CF.RESERVE %s: CF.EXISTS %s with %d additions: %s", reserve, item, times[at], got)
			}
		}
		if _, _, err := p.engine.Delete([]byte("k")); err != nil {
			t.Fatal(err)
		}
	}
}

// wantCount fails the test unless the count of the item is at least times.
func (p *place) wantCount(command, key, item string, times, others int) {
	p.t.Helper()
	var n int
	if reply := p.Do(command, key, item); len(reply) < 2 {
		p.t.Fatalf("%s: %q", command, reply)
	} else if _, err := fmt.Sscanf(reply, ":%d", &n); err != nil || n < times {
		p.t.Fatalf("%s of %s, with %d other items: %s, added %d times more than deleted", command, item, others, reply, times)
	}
}

// An addition by BF.* to a counting filter of another kind is counted likewise.
func TestAdditionsToCountersCount(t *testing.T) {
	p := start(t, 0, redisbloom.Options{})
	counters := umbel.Params{{Name: "width", Value: umbel.Uint(16)}}
	f, _, err := p.engine.Create("k", "dynamic", umbel.Goal{Keys: 100, FPRate: 1e-6}, counters)
	if err != nil {
		t.Fatal(err)
	}
	fillers, watched := items(100, 500), items(0, 50)
	times := make([]uint64, len(watched))
	for i, filler := range fillers {
		at := i % len(watched)
		item := watched[at]
		for _, command := range [][]string{{"BF.ADD", "k", filler}, {"BF.ADD", "k", item}, {"BF.MADD", "k", item, item}, {"BF.INSERT", "k", "ITEMS", item}} {
			if got := p.Do(command...); strings.Contains(got, "-") {
				t.Fatalf("%s: %s", command, got)
			}
		}
		times[at] += 4
		var n [1]uint64
		if err := f.Count(n[:], []umbel.Digest{f.Hasher().HashString(item)}); err != nil {
			t.Fatal(err)
		}
		if n[0] < times[at] {
			t.Fatalf("%s counts %d times with %d other items, and was added %d times", item, n[0], i+1, times[at])
		}
		if got := p.Do("BF.EXISTS", "k", item); got != ":1" {
			t.Fatalf("BF.EXISTS %s: %s", item, got)
		}
	}
}
