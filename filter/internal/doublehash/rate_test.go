package doublehash_test

import (
	"fmt"
	"testing"

	"github.com/umbel-filters/umbel/filter/internal/doublehash"
)

func BenchmarkFPRateAtFill(b *testing.B) {
	for _, k := range []int{7, doublehash.MaxK} {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				doublehash.FPRateAtFill(960, k, 0.5)
			}
		})
	}
}

// TestFPRateAtFillAllocatesNothing: a server measures many small filters.
func TestFPRateAtFillAllocatesNothing(t *testing.T) {
	for _, m := range []uint64{64, 960} {
		if n := testing.AllocsPerRun(100, func() { doublehash.FPRateAtFill(m, 7, 0.5) }); n != 0 {
			t.Errorf("%d bits: %v allocations", m, n)
		}
	}
}

// TestFPRateAtFillEnds: rates are in [0, 1], rise with the fill ratio and are fill^k in large layers.
func TestFPRateAtFillEnds(t *testing.T) {
	for _, m := range []uint64{64, 128, 192, 960, 1 << 30} {
		for _, k := range []int{1, 2, 3, 7, 14, 80, doublehash.MaxK} {
			last := 0.0
			for fill := 0.0; fill <= 1; fill += 1.0 / 64 {
				p := doublehash.FPRateAtFill(m, k, fill)
				if !(p >= 0 && p <= 1) || p < last*(1-1e-9) {
					t.Errorf("m=%d, k=%d, fill %v: %v after %v", m, k, fill, p, last)
				}
				last = p
			}
		}
	}
	if p := doublehash.FPRateAtFill(1<<40, 7, 0.5); p < 1.0/128 || p > 1.00001/128 {
		t.Errorf("a large layer: %v, want 1/128", p)
	}
}

// TestFPRateOfFew: rates are in [0, 1] and rise with the number of keys, also if a key has more bits than the filter.
func TestFPRateOfFew(t *testing.T) {
	for _, m := range []uint64{8, 64, 192} {
		for _, k := range []int{1, 7, 63, 64, 200} {
			last := 0.0
			for n := range uint64(2000) {
				p := doublehash.FPRate(m, k, n)
				if !(p >= 0 && p <= 1) || p < last*(1-1e-9) {
					t.Fatalf("m=%d, k=%d, %d keys: %v after %v", m, k, n, p, last)
				}
				last = p
			}
		}
	}
}
