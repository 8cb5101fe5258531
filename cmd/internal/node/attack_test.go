package node

import (
	"strconv"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
)

// attacked is a filter that strangers add keys to.
func attacked(t *testing.T, h umbel.Hasher) umbel.Filter {
	t.Helper()
	v, err := filter.All.Find("bloom")
	if err != nil {
		t.Fatal(err)
	}
	f, err := v.New(umbel.Goal{Keys: 10_000, FPRate: 0.001, Hasher: h}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Attack: who knows how keys are hashed keeps a copy of the filter and adds to the real one only
// keys whose every cell is still empty (Gerbet, Kumar and Lauradoux 2015, pollution), and looks in the
// copy for keys that are let through (forgery). With the hash of this machine alone, XXH3, both
// work. With the hash of a node that listens beyond, SipHash with a secret seed, the copy is of
// another filter: the keys are as good as random ones.
func TestAttack(t *testing.T) {
	beyond := DefaultConfig()
	beyond.Data, beyond.RESP = t.TempDir(), ":6380"
	secret, err := hashersOf(beyond)
	if err != nil {
		t.Fatal(err)
	}
	const keys = 10_000
	type outcome struct {
		fill, rate float64
		forged     int
	}
	attack := func(h umbel.Hasher) (o outcome) {
		copied, real := attacked(t, umbel.Hasher{}), attacked(t, h)
		locate := copied.(umbel.Locator)
		tried, used := 0, make(map[uint64]bool)
		var cells []uint64
		for range keys {
			// Each key is the one of a hundred that sets the most cells.
			best, most := "", -1
			for range 100 {
				key := "key" + strconv.Itoa(tried)
				tried++
				fresh := 0
				for _, c := range locate.Locate(cells[:0], umbel.Hasher{}.HashString(key)) {
					if !used[c] {
						fresh++
					}
				}
				if fresh > most {
					best, most = key, fresh
				}
			}
			for _, c := range locate.Locate(cells[:0], umbel.Hasher{}.HashString(best)) {
				used[c] = true
			}
			copied.Add(umbel.Hasher{}.HashString(best))
			real.Add(h.HashString(best))
		}
		const wanted = 200
		for i, found := 0, 0; found < wanted; i++ {
			key := "forged" + strconv.Itoa(i)
			if !copied.Has(umbel.Hasher{}.HashString(key)) {
				continue
			}
			found++
			if real.Has(h.HashString(key)) {
				o.forged++
			}
		}
		s := real.Stats()
		o.fill, o.rate = s.Fill, s.FPRate
		return o
	}
	open, closed := attack(umbel.Hasher{}), attack(secret.other)
	t.Logf("a filter made for %d keys at a rate of 0.001, filled with as many chosen ones:", keys)
	t.Logf("XXH3:                     fill %.3f, rate %.5f, %d of 200 forged keys let through", open.fill, open.rate, open.forged)
	t.Logf("SipHash, secret seed:     fill %.3f, rate %.5f, %d of 200 forged keys let through", closed.fill, closed.rate, closed.forged)
	if open.forged != 200 || open.rate < 0.004 {
		t.Errorf("the attack doesn't work where it should: %+v", open)
	}
	// 200 random keys at a rate of 0.001: more than 5 come through once in 10^6.
	if closed.forged > 5 || closed.rate > 0.0012 {
		t.Errorf("the attack works: %+v", closed)
	}
}
