package window_test

import (
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/window"
)

// steady returns a window by keys in steady flow.
func steady(b *testing.B) (*window.Filter, func() umbel.Digest) {
	b.Helper()
	s, err := window.PlanKeys(umbel.Goal{Keys: 100_000, FPRate: 0.01})
	if err != nil {
		b.Fatal(err)
	}
	f, keys := mustNew(b, s), source(1)
	for range 300_000 {
		f.Add(keys())
	}
	return f, keys
}

func BenchmarkHas(b *testing.B) {
	f, keys := steady(b)
	fresh, misses := make([]umbel.Digest, 1<<16), digests(2, 1<<16)
	for i := range fresh {
		fresh[i] = keys()
		f.Add(fresh[i])
	}
	for name, ds := range map[string][]umbel.Digest{"hit": fresh, "miss": misses} {
		b.Run(name+"/n=100000", func(b *testing.B) {
			i := 0
			for b.Loop() {
				f.Has(ds[i&(1<<16-1)])
				i++
			}
		})
	}
}

func BenchmarkAdd(b *testing.B) {
	f, _ := steady(b)
	ds := digests(3, 1<<18)
	i := 0
	for b.Loop() {
		f.Add(ds[i&(1<<18-1)])
		i++
	}
}
