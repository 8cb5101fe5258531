package weighted_test

import (
	"fmt"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/weighted"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/internal/probe"
)

// plain is a standard filter: bloom.Filter without its shape.
type plain struct {
	umbel.Filter // nil
	bits         probe.Bits
}

func (p *plain) Add(d umbel.Digest) bool                  { return p.bits.Add(d) }
func (p *plain) Has(d umbel.Digest) bool                  { return p.bits.Has(d) }
func (p *plain) HasAll(dst []bool, ds []umbel.Digest)     { p.bits.HasAll(dst, ds) }
func (p *plain) AddAll(changed []bool, ds []umbel.Digest) { p.bits.AddAll(changed, ds) }

// subjects are a standard filter and one with a table of digests, with the same keys, memory,
// and k of keys that are not in the table.
func subjects(b *testing.B, n int, hot []umbel.Digest) map[string]umbel.Filter {
	s, err := weighted.Plan(umbel.Goal{Keys: uint64(n), FPRate: 0.01})
	if err != nil {
		b.Fatal(err)
	}
	k := s.Classes[0].K
	a, err := cells.New(s.M, 1)
	if err != nil {
		b.Fatal(err)
	}
	s.Classes = []weighted.Class{{K: k}, {K: 12}, {K: 20}}
	for i, d := range hot {
		s.Hot = append(s.Hot, weighted.Hot{Digest: d, Class: 1 + i%2})
	}
	mapping := probe.Mapping{Groups: s.M >> s.Group, Log: s.Group}
	return map[string]umbel.Filter{"bloom": &plain{bits: probe.NewBits(a, mapping, k, false)}, "weighted": mustNew(b, s)}
}

func BenchmarkHas(b *testing.B) {
	hot := fixture.Digests(9, 10_000)
	for _, n := range []int{100_000, 10_000_000} {
		if testing.Short() && n > 1_000_000 {
			continue
		}
		keys, others := fixture.Digests(1, n), fixture.Digests(2, 1<<20)
		for name, f := range subjects(b, n, hot) {
			umbel.AddAll(f, nil, keys)
			umbel.AddAll(f, nil, hot[:len(hot)/2])
			for what, ds := range map[string][]umbel.Digest{"cold-miss": others, "cold-hit": keys, "hot-miss": hot[len(hot)/2:], "hot-hit": hot[:len(hot)/2]} {
				b.Run(fmt.Sprintf("%s/%s/n=%d", what, name, n), func(b *testing.B) {
					i := 0
					for b.Loop() {
						f.Has(ds[i])
						if i++; i == len(ds) {
							i = 0
						}
					}
				})
				b.Run(fmt.Sprintf("%s-batch/%s/n=%d", what, name, n), func(b *testing.B) {
					var has [1024]bool
					i := 0
					for b.Loop() {
						if i+len(has) > len(ds) {
							i = 0
						}
						umbel.HasAll(f, has[:], ds[i:i+len(has)])
						i += len(has)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(has)), "ns/key")
				})
			}
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	keys := fixture.Digests(1, 100_000)
	for name, f := range subjects(b, len(keys), fixture.Digests(9, 10_000)) {
		b.Run(name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				f.Add(keys[i])
				if i++; i == len(keys) {
					i = 0
				}
			}
		})
	}
}

func BenchmarkHasBytesByPrefix(b *testing.B) {
	f := mustNew(b, byPrefix)
	key := []byte("a/b/a key that is queried")
	f.AddBytes(key)
	for b.Loop() {
		f.HasBytes(key)
	}
}
