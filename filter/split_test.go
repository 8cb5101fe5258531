package filter_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
)

// Filters of a split filter get even numbers of keys, and each has the planned rate with its keys, asked for absent keys of the same
// number, as clients do. So the numbers depend on no position of any kind. Bounds are five standard deviations.
func TestSplit(t *testing.T) {
	const n = 8
	keys, absent := 40_000, 200_000
	if testing.Short() {
		keys, absent = 8_000, 40_000
	}
	hashers := map[string]umbel.Hasher{"splitblock": {Alg: umbel.XXH64}, "parquet": {Alg: umbel.XXH64}, "redisbloom": {Alg: umbel.Murmur64A}, "squid": {Alg: umbel.MD5}}
	goal := umbel.Goal{Keys: uint64(keys) / n, FPRate: 0.02}
	measured := 0
	for _, kind := range filter.All {
		g := goal
		if h, ok := hashers[kind.Name]; ok {
			g.Hasher = h
		}
		first, err := kind.New(g, nil)
		if err != nil {
			t.Logf("%s: %v", kind.Name, err) // it needs parameters
			continue
		}
		if !first.Hasher().HashesKeys() {
			continue
		}
		measured++
		t.Run(kind.Name, func(t *testing.T) {
			filters := make([]umbel.Filter, n)
			for i := range filters {
				if filters[i], err = kind.New(g, nil); err != nil {
					t.Fatal(err)
				}
			}
			h := first.Hasher()
			var had [n]int
			for i := range keys {
				d := h.HashString(fmt.Sprintf("key %d", i))
				had[d.Split(n)]++
				filters[d.Split(n)].Add(d)
			}
			for i, f := range filters {
				if dev := math.Abs(float64(had[i] - keys/n)); dev > 5*math.Sqrt(float64(keys)/n) {
					t.Errorf("filter %d has %d of %d keys", i, had[i], keys)
				}
				if s, ok := f.(umbel.Sealer); ok {
					if err := s.Seal(); err != nil {
						t.Fatal(err)
					}
				}
			}
			for i := range keys {
				if d := h.HashString(fmt.Sprintf("key %d", i)); !filters[d.Split(n)].Has(d) {
					t.Fatalf("key %d is absent", i)
				}
			}
			found, planned := 0, 0.0
			for _, f := range filters {
				planned += f.Stats().FPRate / n
			}
			for i := range absent {
				if d := h.HashString(fmt.Sprintf("absent %d", i)); filters[d.Split(n)].Has(d) {
					found++
				}
			}
			rate := float64(found) / float64(absent)
			if dev := math.Abs(rate - planned); dev > 5*math.Sqrt(planned/float64(absent))+planned/20 {
				t.Errorf("rate %.5f, stated %.5f", rate, planned)
			}
		})
	}
	if measured < 10 {
		t.Errorf("%d kinds were measured", measured)
	}
}
