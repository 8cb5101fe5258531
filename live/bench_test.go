package live_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/blocked"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// BenchmarkAdd adds new keys to a live filter and to the same filter alone, in turns of a thousand, so that both meet the same
// noise, until they have the keys that they are planned for. "overhead-%" is the median over the turns:
//
//	go test ./live -run - -bench Add
func BenchmarkAdd(b *testing.B) {
	for _, kind := range []umbel.Kind{bloom.Kind, blocked.Kind} {
		for _, keys := range []uint64{100_000, 1_000_000, 20_000_000} {
			b.Run(fmt.Sprintf("%s/n=%d", kind.Name, keys), func(b *testing.B) { benchAdd(b, kind, keys) })
		}
	}
}

func benchAdd(b *testing.B, kind umbel.Kind, keys uint64) {
	const turn = 1000
	g := umbel.Goal{Keys: keys, FPRate: 0.001}
	digests := make([]umbel.Digest, turn)
	var alone, lived, ratios []float64
	for b.Loop() {
		bare, err := kind.New(g, nil)
		if err != nil {
			b.Fatal(err)
		}
		f := open(b, filepath.Join(b.TempDir(), "filter.umb"), kind, g, idle(kind))
		adder := bare.(umbel.AtomicAdder)
		for i := range keys / turn {
			for j := range digests {
				digests[j] = digest(i*turn + uint64(j))
			}
			var took [2]float64
			for n := range 2 {
				which := (n + int(i)) % 2
				begin := time.Now()
				if which == 0 {
					for _, d := range digests {
						adder.AddAtomic(d)
					}
				} else {
					for _, d := range digests {
						f.Add(d)
					}
				}
				took[which] = float64(time.Since(begin)) / turn
			}
			alone, lived, ratios = append(alone, took[0]), append(lived, took[1]), append(ratios, took[1]/took[0])
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(alone), "ns/alone")
	b.ReportMetric(median(lived), "ns/live")
	b.ReportMetric(100*(median(ratios)-1), "overhead-%")
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}
