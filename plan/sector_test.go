package plan

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

// simulateSectors fills filters of m bits and returns their mean rate, asking each
// of them trials times.
func simulateSectors(m uint64, words, perWord int, n uint64, filters, trials int) *sample {
	r := newRand(6)
	sets := sectorSets(words)
	blocks := make([][sectorWords]uint64, m/sectorBlock)
	// key calls use for each word of a key, until it returns false.
	key := func(use func(word *uint64, mask uint64) bool) {
		block, set := &blocks[r.IntN(len(blocks))], &sets[r.IntN(len(sets))]
		for _, word := range set[:words] {
			mask, random := uint64(0), r.Uint64()
			for range perWord { // 10 at most
				mask |= 1 << (random % sectorWord)
				random /= sectorWord
			}
			if !use(&block[word], mask) {
				return
			}
		}
	}
	var rate sample
	for range filters {
		clear(blocks)
		for range n {
			key(func(word *uint64, mask uint64) bool {
				*word |= mask
				return true
			})
		}
		yes := 0
		for range trials {
			has := true
			key(func(word *uint64, mask uint64) bool {
				has = mask&^*word == 0
				return has
			})
			if has {
				yes++
			}
		}
		rate.add(float64(yes) / float64(trials))
	}
	return &rate
}

func TestSectorFPRateAgainstSimulation(t *testing.T) {
	filters := 24
	if testing.Short() {
		filters = 10
	}
	for _, c := range []struct {
		words, perWord int
		perKey         float64
	}{
		{1, 1, 2}, {1, 5, 10}, {2, 3, 10}, {3, 1, 4}, {3, 2, 10}, {3, 2, 14}, {3, 3, 12},
		{4, 2, 11}, {4, 2, 14.4}, {5, 1, 8}, {5, 2, 12}, {6, 1, 10}, {7, 1, 10}, {8, 1, 11}, {8, 2, 8},
	} {
		t.Run(fmt.Sprintf("%dx%d/m÷n=%v", c.words, c.perWord, c.perKey), func(t *testing.T) {
			const m = 1 << 18
			n := uint64(m / c.perKey)
			rate := simulateSectors(m, c.words, c.perWord, n, filters, 100_000)
			rate.wantMean(t, SectorFPRate(m, c.words, c.perWord, n), 0.01)
		})
	}
}

// Few blocks: the load is binomial, one block has them all.
func TestSectorFPRateOfFewBlocks(t *testing.T) {
	for _, c := range []struct{ m, n uint64 }{{512, 40}, {1024, 100}, {1500, 60}} {
		rate := simulateSectors(c.m/sectorBlock*sectorBlock, 3, 2, c.n, 6000, 200)
		rate.wantMean(t, SectorFPRate(c.m, 3, 2, c.n), 0)
	}
}

// With one bit in every word nothing is left to choose.
func TestSectorFPRateOfAllWords(t *testing.T) {
	for _, n := range []uint64{1, 100, 10_000, 100_000} {
		const m = 1 << 20
		want := overLoad(n, m/sectorBlock, func(load float64) float64 {
			return FPRateAtFill(fillAfter(sectorWord, load), sectorWords)
		})
		if got := SectorFPRate(m, 8, 1, n); math.Abs(got-want) > 1e-7*want+1e-11 {
			t.Errorf("n=%d: %g, want %g", n, got, want)
		}
	}
}

func TestSectorSetsCoverPairsEvenly(t *testing.T) {
	for words := 2; words <= sectorWords; words++ {
		var pairs [sectorWords][sectorWords]int
		for _, set := range sectorSets(words) {
			for i, a := range set[:words] {
				for _, b := range set[:i] {
					pairs[a][b]++
					pairs[b][a]++
				}
			}
		}
		for a := range pairs {
			for b, got := range pairs[a] {
				if want := words * (words - 1); a != b && got != want {
					t.Errorf("%d words: pair %d, %d in %d sets, want %d", words, a, b, got, want)
				}
			}
		}
	}
}

func TestSectorDesign(t *testing.T) {
	const n = 1_000_000
	for _, c := range []struct {
		bitsPerKey     float64
		words, perWord int
		rate           float64
	}{{6, 2, 2, 0.0587}, {8, 3, 2, 0.0238}, {10, 3, 2, 0.00980}, {11, 4, 2, 0.00645}, {14.4, 4, 2, 0.00159}, {16, 5, 2, 0.000845}} {
		m := uint64(c.bitsPerKey*n) / sectorBlock * sectorBlock
		words, perWord := SectorDesign(m, n)
		if words != c.words || perWord != c.perWord {
			t.Errorf("%v bits per key: %d words of %d bits, want %d of %d", c.bitsPerKey, words, perWord, c.words, c.perWord)
		}
		if got := SectorFPRate(m, c.words, c.perWord, n); !near(got, c.rate, 0.004) {
			t.Errorf("%v bits per key: rate %.4g, want %.4g", c.bitsPerKey, got, c.rate)
		}
		if got, split := SectorFPRate(m, words, perWord, n), SplitBlockFPRate(m, n); got >= split {
			t.Errorf("%v bits per key: rate %.4g, split blocks have %.4g", c.bitsPerKey, got, split)
		}
	}
}

func TestSectorSize(t *testing.T) {
	const n = 100_000
	for _, p := range []float64{0.3, 0.1, 0.01, 0.001, 1e-4, 1e-5} {
		m, words, perWord, err := SectorSize(n, p)
		if err != nil {
			t.Fatalf("p=%g: %v", p, err)
		}
		if got := SectorFPRate(m, words, perWord, n); m%sectorBlock != 0 || got > p {
			t.Errorf("p=%g: m=%d with %d words of %d bits has a rate of %g", p, m, words, perWord, got)
		}
		if got := SectorFPRate(m-sectorBlock, words, perWord, n); got <= p {
			t.Errorf("p=%g: m=%d is enough with %d words of %d bits: %g", p, m-sectorBlock, words, perWord, got)
		}
		least, _, err := BlockedSize(n, sectorBlock, p)
		if err != nil || float64(m) > 1.07*float64(least) {
			t.Errorf("p=%g: m=%d, bits anywhere in a block need %d, %v", p, m, least, err)
		}
	}
	for _, c := range []struct {
		n uint64
		p float64
	}{{0, 0.1}, {1, 0}, {1, 1}, {1, math.NaN()}, {1 << 62, 1e-3}} {
		if _, _, _, err := SectorSize(c.n, c.p); !errors.Is(err, ErrRange) {
			t.Errorf("n=%d p=%v: error %v, want ErrRange", c.n, c.p, err)
		}
	}
	for _, c := range [][2]int{{0, 1}, {9, 1}, {1, 0}, {3, 6}} {
		if _, err := SectorSizeFor(10, c[0], c[1], 0.1); !errors.Is(err, ErrRange) {
			t.Errorf("%d words of %d bits: error %v, want ErrRange", c[0], c[1], err)
		}
		wantPanic(t, "bad sectors", func() { SectorFPRate(512, c[0], c[1], 1) })
	}
	wantPanic(t, "m=511", func() { SectorFPRate(511, 3, 2, 1) })
}

func BenchmarkSectorDesign(b *testing.B) {
	for b.Loop() {
		SectorDesign(10_000_384, 1_000_000)
	}
}
