package probe

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// BenchmarkBatch measures batches with each of the kernels that the machine has: the scalar ones (lanes=0),
// and those with vectors of four and of eight values. The filter has a rate of 1 %, with 1e5 keys in the
// second-level cache and, without -short, with more.
func BenchmarkBatch(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000, 10_000_000} {
		if n > 100_000 && testing.Short() {
			continue
		}
		m := Mapping{Groups: uint64(n) * 96 / 10 >> WordLog, Log: WordLog}
		a, err := cells.New(m.Groups<<m.Log, 1)
		if err != nil {
			b.Fatal(err)
		}
		bits := NewBits(a, m, 7, false)
		in, out := fixture.Digests(1, n), fixture.Digests(2, min(n, 1<<20))
		bits.AddAll(nil, in)
		in = in[:len(out)]
		mixed, r := slices.Clone(in), rand.New(rand.NewPCG(3, 4))
		for i := range mixed {
			if r.Uint64()&1 == 0 {
				mixed[i] = out[i]
			}
		}
		const size = 1024
		has := make([]bool, size)
		query := func(ds []umbel.Digest) { bits.HasAll(has, ds) }
		for _, op := range []struct {
			name string
			ds   []umbel.Digest
			do   func(ds []umbel.Digest)
		}{
			{"hit", in, query}, {"miss", out, query}, {"mixed", mixed, query},
			{"add", in, func(ds []umbel.Digest) { bits.AddAll(nil, ds) }},
		} {
			for _, lanes := range lanesFor(7) {
				b.Run(fmt.Sprintf("%s/n=%d/lanes=%d", op.name, n, lanes), func(b *testing.B) {
					bits.table.choose(8*uint64(len(a.Words)), lanes)
					if lanes != 0 {
						bits.table.lanes = lanes // in a small array, too
					}
					i := 0
					for b.Loop() {
						if i += size; i+size > len(op.ds) {
							i = 0
						}
						op.do(op.ds[i : i+size])
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/size, "ns/key")
				})
			}
		}
	}
}
