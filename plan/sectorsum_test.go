package plan

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

// designsAndOthers are those that are designed, and others that rates are told of.
var designsAndOthers = append(sectorDesigns[:len(sectorDesigns):len(sectorDesigns)], [][2]int{{1, 16}, {3, 4}, {4, 4}, {5, 3}, {8, 2}}...)

// The two ways to the rate agree where both are good.
func TestSectorSumsAgree(t *testing.T) {
	for _, d := range designsAndOthers {
		s := sectorSumOf(d[0], d[1])
		for _, blocks := range []uint64{1, 2, 100, 1 << 20} {
			for load := 0.1; load < 64; load *= 1.3 {
				n := uint64(load * float64(blocks))
				if n == 0 {
					continue
				}
				want := s.byLoad(n, blocks)
				within := 0.0
				switch {
				case want >= 1e-6:
					within = 1e-5
				case want >= sectorRare:
					within = 1e-4
				case want >= 1e-9:
					within = 0.01
				default:
					continue
				}
				if got := s.alternating(float64(n), float64(blocks)); !near(got, want, within) {
					t.Errorf("%d words of %d bits, %d keys in %d blocks: %g and %g", d[0], d[1], n, blocks, got, want)
				}
			}
		}
	}
}

// With one key in a block the question has its words, and its bits in each of them.
func TestSectorRateOfOneKey(t *testing.T) {
	for _, d := range designsAndOthers {
		words, perWord := d[0], d[1]
		// The question's bits in a word are all among the key's.
		onlyOf := overOccupancy(sectorWord, perWord, func(fill float64) float64 { return math.Pow(fill, float64(perWord)) })
		all := float64(sharedWords(words)[1<<words-1]) / sectorMaps
		want := all * math.Pow(onlyOf, float64(words))
		if got := SectorFPRate(sectorBlock, words, perWord, 1); !near(got, want, 1e-9) {
			t.Errorf("%d words of %d bits: %g, want %g", words, perWord, got, want)
		}
		// Among many blocks nothing else matters.
		const blocks = 1 << 40
		if got := SectorFPRate(blocks*sectorBlock, words, perWord, 1); !near(got, want/blocks, 1e-9) {
			t.Errorf("%d words of %d bits, many blocks: %g, want %g", words, perWord, got, want/blocks)
		}
	}
}

// With all words used, words differ in nothing but the load, which they share.
func TestSectorRareRateOfAllWords(t *testing.T) {
	for _, perWord := range []int{1, 2} {
		for _, n := range []uint64{1, 10, 100, 1000} {
			const blocks = 1 << 10
			want := overLoad(n, blocks, func(load float64) float64 {
				covered := overOccupancy(sectorWord, int(load)*perWord, func(fill float64) float64 { return math.Pow(fill, float64(perWord)) })
				return math.Pow(covered, sectorWords)
			})
			if got := SectorFPRate(blocks*sectorBlock, sectorWords, perWord, n); got >= sectorRare || !near(got, want, 1e-8) {
				t.Errorf("%d keys, %d bits per word: %g, want %g", n, perWord, got, want)
			}
		}
	}
}

// Rates never fall as keys come, also where one sum takes over from the other.
func TestSectorRatesRise(t *testing.T) {
	for _, d := range sectorDesigns {
		last := 0.0
		for n := uint64(1); n < 1<<20; n += n/50 + 1 {
			p := SectorFPRate(1<<24, d[0], d[1], n)
			if p <= last {
				t.Errorf("%d words of %d bits: rate %g of %d keys, %g of fewer", d[0], d[1], p, n, last)
			}
			last = p
		}
	}
}

// Bits per key rise by a half with each digit, and by three times in the end, when
// keys that have a block for themselves are what matters.
func TestSectorSizesOfRareRates(t *testing.T) {
	for _, n := range []uint64{1000, 1 << 20} {
		last, lastRatio := 0.0, 0.0
		for _, p := range []float64{1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15, 1e-16, 1e-17, 1e-18} {
			m, words, perWord, err := SectorSize(n, p)
			if err != nil {
				t.Fatalf("n=%d p=%g: %v", n, p, err)
			}
			if got := SectorFPRate(m, words, perWord, n); got > p || !near(got, p, 0.06) {
				t.Errorf("n=%d p=%g: m=%d with %d words of %d bits has a rate of %g", n, p, m, words, perWord, got)
			}
			if got := SectorFPRate(m-sectorBlock, words, perWord, n); got <= p {
				t.Errorf("n=%d p=%g: %d bits fewer have a rate of %g", n, p, sectorBlock, got)
			}
			perKey := float64(m) / float64(n)
			ratio := perKey / last
			if last != 0 && (ratio < 1.3 || ratio > 3.1) || lastRatio != 0 && ratio < 0.97*lastRatio {
				t.Errorf("n=%d p=%g: %.4g bits per key, %.4g times those of ten times the rate, before %.4g times", n, p, perKey, ratio, lastRatio)
			}
			if last != 0 {
				lastRatio = ratio
			}
			last = perKey
		}
	}
	for _, p := range []float64{0.99e-18, 1e-30, math.SmallestNonzeroFloat64} {
		if _, _, _, err := SectorSize(1000, p); !errors.Is(err, ErrRange) {
			t.Errorf("SectorSize, p=%g: %v, want ErrRange", p, err)
		}
		if _, err := SectorSizeFor(1000, 5, 2, p); !errors.Is(err, ErrRange) {
			t.Errorf("SectorSizeFor, p=%g: %v, want ErrRange", p, err)
		}
	}
}

func BenchmarkNewSectorSum(b *testing.B) {
	for _, d := range [][2]int{{3, 2}, {5, 2}, {8, 1}} {
		b.Run(fmt.Sprintf("%dx%d", d[0], d[1]), func(b *testing.B) {
			for b.Loop() {
				newSectorSum(d[0], d[1])
			}
		})
	}
}
