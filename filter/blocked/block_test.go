package blocked

import (
	"fmt"
	"math"
	"math/big"
	mathbits "math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// shapes are those with their own code, and the smallest, the largest and some other shapes.
var shapes = [][2]int{{1, 1}, {1, 2}, {2, 2}, {3, 2}, {4, 2}, {5, 2}, {6, 1}, {8, 1}}

func eachShape(t *testing.T, test func(t *testing.T, words, bits int)) {
	for _, s := range shapes {
		t.Run(fmt.Sprintf("%dx%d", s[0], s[1]), func(t *testing.T) { test(t, s[0], s[1]) })
	}
}

func newFilter(t testing.TB, blocks uint64, words, bits int) *Filter {
	t.Helper()
	return fixture.Must(NewShape(Shape{M: blocks * BlockBits, Words: words, Bits: bits}))
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x626c6f636b)) }

func digests(r *rand.Rand, n int) []umbel.Digest {
	ds := make([]umbel.Digest, n)
	for i := range ds {
		ds[i] = umbel.Digest{H1: r.Uint64(), H2: r.Uint64()}
	}
	return ds
}

// positionsBySpec computes the layout in another way: with big numbers and with the field of eight
// elements as powers of x.
func positionsBySpec(d umbel.Digest, blocks uint64, words, perWord int) []uint64 {
	product := new(big.Int).Mul(new(big.Int).SetUint64(d.H1), new(big.Int).SetUint64(blocks))
	block := product.Rsh(product, 64).Uint64()
	powers := []uint64{1, 2, 4, 3, 6, 7, 5}
	a, b := int(d.H2>>61)%7, d.H2>>58&7
	var at []uint64
	for i := range words {
		word := b
		if i > 0 {
			word ^= powers[(a+slices.Index(powers, uint64(i)))%7]
		}
		for j := range perWord {
			from := 6 * (i*perWord + j)
			if i == 4 && perWord == 2 {
				from -= 2
			}
			bit := d.H2 >> from & 63
			at = append(at, block*512+word*64+bit)
		}
	}
	return at
}

func TestPositions(t *testing.T) {
	eachShape(t, func(t *testing.T, words, bits int) {
		r := newRand(1)
		for _, blocks := range []uint64{1, 2, 3, 1000} {
			f := newFilter(t, blocks, words, bits)
			for _, d := range digests(r, 500) {
				want := positionsBySpec(d, blocks, words, bits)
				if got := f.Locate(nil, d); !slices.Equal(got, want) {
					t.Fatalf("%v in %d blocks: %v, want %v", d, blocks, got, want)
				}
				f.Clear()
				if f.Has(d) || !f.Add(d) || f.Add(d) || !f.Has(d) {
					t.Fatalf("%v in %d blocks isn't added, or not once", d, blocks)
				}
				bare := make([]uint64, len(f.cells.Words))
				for _, at := range want {
					bare[at/64] |= 1 << (at % 64)
				}
				if !slices.Equal(f.cells.Words, bare) {
					t.Fatalf("%v in %d blocks sets other bits than %v", d, blocks, want)
				}
			}
		}
	})
}

func TestOrdersCoverPairsEvenly(t *testing.T) {
	for i := range 8 {
		for j := range i {
			var pairs [8][8]int
			for _, o := range orders[:56] {
				pairs[o.word(i)][o.word(j)]++
			}
			for a := range pairs {
				for b, got := range pairs[a] {
					if want := min(1, max(a-b, b-a)); got != want {
						t.Errorf("places %d, %d fall on words %d, %d in %d orders, want %d", i, j, a, b, got, want)
					}
				}
			}
		}
	}
	if !slices.Equal(orders[56:], orders[:8]) {
		t.Error("the last orders aren't the first again")
	}
}

// A fold joins neighboring blocks.
func TestFoldIsTheFilterBuiltSmall(t *testing.T) {
	eachShape(t, func(t *testing.T, words, bits int) {
		ds := fixture.Digests(2, 3000)
		for _, c := range []struct{ blocks, r uint64 }{{12, 2}, {12, 3}, {12, 12}, {210, 7}, {1 << 10, 1 << 5}} {
			large, small := newFilter(t, c.blocks, words, bits), newFilter(t, c.blocks/c.r, words, bits)
			large.AddAll(nil, ds)
			small.AddAll(nil, ds)
			folded, err := large.cells.Fold(c.r, BlockBits)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(folded.Words, small.cells.Words) {
				t.Errorf("%d blocks folded by %d differ from the filter built small", c.blocks, c.r)
			}
		}
	})
}

func TestRateIsThatOfThePlan(t *testing.T) {
	trials := 4_000_000
	if testing.Short() {
		trials = 200_000
	}
	for _, c := range []struct {
		words, bits int
		perKey      float64
	}{{3, 2, 10}, {4, 2, 11}, {4, 2, 14.4}, {2, 2, 6}, {5, 2, 12}, {6, 1, 10}, {5, 2, 18}, {8, 1, 11}} {
		t.Run(fmt.Sprintf("%dx%d/m÷n=%v", c.words, c.bits, c.perKey), func(t *testing.T) {
			const m = 1 << 24
			r, n := newRand(3), int(m/c.perKey)
			f := newFilter(t, m/BlockBits, c.words, c.bits)
			f.AddAll(nil, digests(r, n))
			yes, dst := 0, make([]bool, 1000)
			for range trials / len(dst) {
				f.HasAll(dst, digests(r, len(dst)))
				for _, b := range dst {
					if b {
						yes++
					}
				}
			}
			want := fpRate(m, c.words, c.bits, uint64(n))
			got := float64(yes) / float64(trials)
			sigma := math.Sqrt(want / float64(trials))
			if math.Abs(got-want) > max(0.01*want, 3.5*sigma) {
				t.Errorf("rate %.6f, want %.6f, standard deviation %.6f", got, want, sigma)
			}
		})
	}
}

func TestZeroFilterHoldsNothing(t *testing.T) {
	var f Filter
	dst := []bool{true}
	f.HasAll(dst, []umbel.Digest{{H1: 1, H2: 2}})
	if f.Has(umbel.Digest{H1: 1, H2: 2}) || dst[0] {
		t.Error("a zero filter has a key")
	}
}

func TestAddToZeroFilterPanics(t *testing.T) {
	var f Filter
	ds := fixture.Digests(12, 100)
	for name, add := range map[string]func(){
		"Add":             func() { f.Add(ds[0]) },
		"AddAtomic":       func() { f.AddAtomic(ds[0]) },
		"AddAll":          func() { f.AddAll(nil, ds) },
		"AddAll, changed": func() { f.AddAll(make([]bool, len(ds)), ds) },
		"AddAllAtomic":    func() { f.AddAllAtomic(ds) },
	} {
		if got := fixture.PanicText(add); got != "umbel: add to a zero filter: make it with New" {
			t.Errorf("%s panics with %q", name, got)
		}
	}
}

// The orders here and the maps of the plan are the same, so the mean of Stats is the planned rate of one
// block. That eight orders occur twice makes it higher, which the plan includes for few keys.
func TestBlockRateIsThatOfThePlan(t *testing.T) {
	trials := 4000
	if testing.Short() {
		trials = 1000
	}
	eachShape(t, func(t *testing.T, words, bits int) {
		for _, c := range []struct {
			keys   int
			within float64
		}{{1, 0.01}, {2, 0.02}, {8, 0.03}, {30, 0.02}, {60, 0.01}} {
			f, r := newFilter(t, 1, words, bits), newRand(uint64(c.keys))
			var sum, squares float64
			for range trials {
				f.Clear()
				f.AddAll(nil, digests(r, c.keys))
				p := f.Stats().FPRate
				sum += p
				squares += p * p
			}
			got, want := sum/float64(trials), fpRate(BlockBits, words, bits, uint64(c.keys))
			sigma := math.Sqrt((squares/float64(trials) - got*got) / float64(trials))
			if math.Abs(got-want) > c.within*want+3*sigma {
				t.Errorf("%d keys: rate %.4g, want %.4g, standard deviation %.2g", c.keys, got, want, sigma)
			}
		}
	})
}

// The rate is the mean over all orders.
func TestStatsRate(t *testing.T) {
	for bits := range shifts {
		for words := 1; words <= len(shifts[bits]); words++ {
			f := newFilter(t, 100, words, bits)
			f.AddAll(nil, fixture.Digests(13, 1500))
			want, ones := 0.0, 0
			for b := range slices.Chunk(f.cells.Words, blockWords) {
				for _, o := range orders {
					p := 1.0
					for place := range words {
						p *= math.Pow(float64(mathbits.OnesCount64(b[o.word(place)]))/wordBits, float64(bits))
					}
					want += p / float64(len(orders)) / 100
				}
				for _, w := range b {
					ones += mathbits.OnesCount64(w)
				}
			}
			got := f.Stats()
			if math.Abs(got.FPRate-want) > 1e-12*want || got.Fill != float64(ones)/float64(f.shape.M) {
				t.Errorf("%d words of %d bits: rate %g and fill %g, want %g and %d bits", words, bits, got.FPRate, got.Fill, want, ones)
			}
		}
	}
}

// A full filter has every key.
func TestStatsOfFullFilter(t *testing.T) {
	eachShape(t, func(t *testing.T, words, bits int) {
		f := newFilter(t, 3, words, bits)
		for i := range f.cells.Words {
			f.cells.Words[i] = math.MaxUint64
		}
		if got := f.Stats(); got.FPRate != 1 || got.Fill != 1 {
			t.Errorf("rate %g and fill %g, want 1", got.FPRate, got.Fill)
		}
	})
}

func TestAddAtomicFromManyGoroutines(t *testing.T) {
	eachShape(t, func(t *testing.T, words, bits int) {
		ds := fixture.Digests(4, 20_000)
		f, want := newFilter(t, 50, words, bits), newFilter(t, 50, words, bits)
		want.AddAll(nil, ds)
		var all sync.WaitGroup
		for g := range 4 {
			all.Go(func() {
				for _, d := range ds[g*len(ds)/8:][:len(ds)/8] {
					f.AddAtomic(d)
					if !f.Has(d) || f.AddAtomic(d) {
						t.Errorf("%v is lost", d)
					}
				}
				f.AddAllAtomic(ds[len(ds)/2:])
			})
		}
		all.Wait()
		if !slices.Equal(f.cells.Words, want.cells.Words) {
			t.Error("bits differ from those of sequential additions")
		}
	})
}
