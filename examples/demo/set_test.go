package main

import (
	"math/rand/v2"
	"testing"
	"time"
)

// world replays changes and fails if one contradicts the set.
type world map[string]bool

func (w world) apply(t *testing.T, c change) {
	t.Helper()
	for _, key := range c.removed {
		if !w[key] {
			t.Fatalf("%q was removed, but was absent before the change", key)
		}
		delete(w, key)
	}
	for _, key := range c.added {
		if w[key] {
			t.Fatalf("%q was added, but was present", key)
		}
		w[key] = true
	}
}

func TestPopulation(t *testing.T) {
	const begin, perSecond = 1000, 50
	p := newPopulation(begin, perSecond, 500*time.Millisecond, 1)
	w, total, least, most := world{}, 0, begin, begin
	for call := range 1 + int(2*swing/(500*time.Millisecond)) {
		c, err := p.next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w.apply(t, c)
		if call == 0 {
			if len(w) != begin {
				t.Fatalf("%d keys at the beginning, want %d", len(w), begin)
			}
			continue
		}
		n := len(c.added) + len(c.removed)
		total, least, most = total+n, min(least, len(w)), max(most, len(w))
		if n != perSecond/2 {
			t.Errorf("call %d: %d changes, want %d", call, n, perSecond/2)
		}
	}
	// In a quarter of a swing, tilt·2/π of the changes are net additions.
	if most < begin+perSecond*10*4/10 || least > begin-perSecond {
		t.Errorf("between %d and %d keys: the population does not grow and shrink", least, most)
	}
	again := newPopulation(begin, perSecond, 500*time.Millisecond, 1)
	if a, _ := again.next(t.Context()); !contains(w, a.added) {
		t.Error("the same seed has other keys")
	}
}

// contains reports whether any of the keys is left.
func contains(w world, keys []string) bool {
	for _, key := range keys {
		if w[key] {
			return true
		}
	}
	return false
}

// A population does not become empty, even if more keys should leave than there are.
func TestPopulationEmpty(t *testing.T) {
	p := newPopulation(1, 1000, time.Second, 1)
	w, least := world{}, 1000
	for range 3 * int(swing/time.Second) {
		c, _ := p.next(t.Context())
		w.apply(t, c)
		least = min(least, len(w))
	}
	if least < 1 || least > 500 {
		t.Errorf("it had at least %d keys, want less than change in a second, but not none", least)
	}
}

func TestSet(t *testing.T) {
	var s set
	p := newPopulation(100, 30, time.Second, 2)
	w, added := world{}, map[string]uint64{}
	r := rand.New(rand.NewPCG(1, 1))
	for version := uint64(1); version <= 50; version++ {
		c, _ := p.next(t.Context())
		s.apply(c, version)
		w.apply(t, c)
		for _, key := range c.added {
			added[key] = version
		}
		keys, _, _ := s.size()
		if keys != uint64(len(w)) || len(s.keys(1000)) != len(w) || len(s.keys(3)) != 3 {
			t.Fatalf("version %d: %d keys, want %d", version, keys, len(w))
		}
		for _, m := range s.sample(make([]member, 20), r) {
			if !w[m.key] || m.version != added[m.key] {
				t.Fatalf("version %d: sampled %q of version %d, which is present: %v, and of version %d", version, m.key, m.version, w[m.key], added[m.key])
			}
		}
	}
	if keys, a, removed := s.size(); keys != 100+a-removed || a+removed != 49*30 {
		t.Errorf("%d keys, %d added and %d removed", keys, a, removed)
	}
	if got := new(set).sample(make([]member, 3), r); got != nil {
		t.Errorf("an empty set returned %v", got)
	}
}
