package splitblock

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/filtertest"
	"github.com/umbel-filters/umbel/internal/fixture"
)

var (
	_ umbel.AtomicAdder      = (*Filter)(nil)
	_ umbel.Merger           = (*Filter)(nil)
	_ umbel.Folder           = (*Filter)(nil)
	_ umbel.Clearer          = (*Filter)(nil)
	_ umbel.Locator          = (*Filter)(nil)
	_ umbel.BatchQuerier     = (*Filter)(nil)
	_ umbel.BatchAdder       = (*Filter)(nil)
	_ umbel.AtomicBatchAdder = (*Filter)(nil)
)

func FuzzOpen(f *testing.F) { filtertest.Fuzz(f, Kind) }

func TestKind(t *testing.T) { filtertest.Run(t, Kind) }

func testFilter(t testing.TB, blocks uint64) *Filter {
	t.Helper()
	return fixture.Must(NewShape(Shape{M: blocks * BlockBits, Hasher: ParquetHasher}))
}

func bitset(t testing.TB, f *Filter) []byte {
	t.Helper()
	b, err := f.AppendBitset(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestParquetGolden: parquet-go and this package set the same bits.
func TestParquetGolden(t *testing.T) {
	for _, c := range []struct {
		keys   int
		blocks uint64
	}{{1, 1}, {20, 3}, {200, 12}} {
		t.Run(fmt.Sprintf("keys=%d/blocks=%d", c.keys, c.blocks), func(t *testing.T) {
			want, err := os.ReadFile(fmt.Sprintf("testdata/parquet-%dkeys-%dblocks.bitset", c.keys, c.blocks))
			if err != nil {
				t.Fatal(err)
			}
			f := testFilter(t, c.blocks)
			for i := range c.keys {
				f.AddString(fmt.Sprintf("key-%d", i))
			}
			if got := bitset(t, f); !bytes.Equal(got, want) {
				t.Errorf("bits differ:\n got %x\nwant %x", got, want)
			}
			g, err := OpenBitset(want)
			if err != nil {
				t.Fatal(err)
			}
			for i := range c.keys {
				if !g.HasString(fmt.Sprintf("key-%d", i)) {
					t.Errorf("key-%d is missing", i)
				}
			}
		})
	}
}

// TestParquetAlgorithm compares filters with the algorithm of BloomFilter.md, word by word.
func TestParquetAlgorithm(t *testing.T) {
	salt := [8]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}
	rapid.Check(t, func(r *rapid.T) {
		blocks := rapid.Uint64Range(1, 1000).Draw(r, "blocks")
		h := rapid.Uint64().Draw(r, "hash")
		f := testFilter(t, blocks)
		if !f.Add(umbel.Digest{H1: h}) || f.Add(umbel.Digest{H1: h}) {
			r.Fatal("the first addition changes the filter, the second doesn't")
		}
		want := make([]byte, blocks*BlockBytes)
		block := want[(h>>32)*blocks>>32*BlockBytes:]
		for i, s := range salt {
			bit := uint32(h) * s >> 27
			block[uint32(4*i)+bit/8] |= 1 << (bit % 8)
		}
		if got := bitset(t, f); !bytes.Equal(got, want) {
			r.Fatalf("got %x, want %x", got, want)
		}
	})
}

// levels returns f with each set of kernels that this machine supports.
func levels(f *Filter) map[string]*Filter {
	avx2, plain := newFilter(f.bits, f.hasher), newFilter(f.bits, f.hasher)
	avx2.wide, plain.wide, plain.fast = 0, 0, 0
	return map[string]*Filter{"best": f, "avx2": avx2, "plain": plain}
}

// TestKernelsAgree: kernels and plain versions return the same results, for lengths of a batch
// near the prefetch distance and the limit of a kernel, with and without prefetches.
func TestKernelsAgree(t *testing.T) {
	for _, blocks := range []uint64{1, 2, 7, 100, prefetchFrom} {
		for _, n := range []int{1, 2, 3, 5, prefetchDistance - 1, prefetchDistance, prefetchDistance + 1, 2*prefetchDistance + 3, 700, maxBatch - 1, maxBatch + 1, maxBatch + prefetchDistance, 2*maxBatch + 5} {
			if blocks < prefetchFrom || n >= prefetchDistance {
				kernelsAgree(t, blocks, n)
			}
		}
	}
}

func kernelsAgree(t *testing.T, blocks uint64, n int) {
	r := rand.New(rand.NewPCG(blocks, uint64(n)))
	ds := make([]umbel.Digest, n)
	for i := range ds {
		ds[i].H1 = r.Uint64() >> (r.Uint32() % 3 * 20) // some in one block
	}
	queried := slices.Clone(ds)
	for i := range queried[:n/2] {
		queried[i].H1 = r.Uint64()
	}
	want := testFilter(t, blocks)
	has, changed := make([]bool, n), make([]bool, n)
	for i, d := range ds {
		changed[i] = addPlain(want, d.H1)
	}
	for i, d := range queried {
		has[i] = hasPlain(want, d.H1)
	}
	for name, f := range levels(testFilter(t, blocks)) {
		got := make([]bool, n)
		sameBits := func(op string) {
			t.Helper()
			if !f.bits.Equal(want.bits) {
				t.Fatalf("%s, %d blocks, %d keys: %s sets other bits", name, blocks, n, op)
			}
		}
		same := func(op string, want []bool) {
			t.Helper()
			sameBits(op)
			if !slices.Equal(got, want) {
				t.Fatalf("%s, %d blocks, %d keys: %s returns\n%v, want\n%v", name, blocks, n, op, got, want)
			}
		}
		f.Clear()
		for i, d := range ds {
			got[i] = f.Add(d)
		}
		same("Add", changed)
		f.Clear()
		f.AddAll(got, ds)
		same("AddAll", changed)
		f.Clear()
		f.AddAll(nil, ds)
		sameBits("AddAll without report")
		f.Clear()
		f.AddAllAtomic(ds)
		sameBits("AddAllAtomic")
		f.HasAll(got, queried)
		same("HasAll", has)
		for i, d := range queried {
			got[i] = f.Has(d)
		}
		same("Has", has)
	}
}

// TestUnaligned: kernels work with memory that isn't aligned to blocks.
func TestUnaligned(t *testing.T) {
	s := testFilter(t, 9).State()
	words := make([]uint64, len(s.Arrays[0].Words)+3)
	for skip := range 4 {
		clear(words)
		s.Arrays[0].Words = words[skip : skip+len(s.Arrays[0].Words)]
		f, err := Open(s)
		if err != nil {
			t.Fatal(err)
		}
		want := testFilter(t, 9)
		for i := range uint64(50) {
			f.Add(umbel.DigestFromHash64(i << 40))
			want.Add(umbel.DigestFromHash64(i << 40))
		}
		if !f.State().Arrays[0].Equal(want.State().Arrays[0]) {
			t.Errorf("with %d words before the first: bits differ", skip)
		}
	}
}

func TestZeroFilter(t *testing.T) {
	filtertest.Zero(t, Kind, func() umbel.Filter { return new(Filter) })
}

// TestAtomicAlongsideHas runs queries and additions concurrently, for the race detector. No key
// is lost.
func TestAtomicAlongsideHas(t *testing.T) {
	f := testFilter(t, 64)
	const n = 2000
	var wg sync.WaitGroup
	for g := range uint64(4) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(g%2, 1)) // two and two add the same
			for range n {
				d := umbel.Digest{H1: r.Uint64()}
				f.AddAtomic(d)
				if !f.Has(d) {
					t.Error("a key is absent after its addition")
					return
				}
			}
		})
	}
	wg.Wait()
	want := testFilter(t, 64)
	for g := range uint64(2) {
		r := rand.New(rand.NewPCG(g, 1))
		for range n {
			want.Add(umbel.Digest{H1: r.Uint64()})
		}
	}
	if !bytes.Equal(bitset(t, f), bitset(t, want)) {
		t.Error("bits differ from those of single additions")
	}
}

func TestShapes(t *testing.T) {
	for _, m := range []uint64{0, 1, 255, 257, (maxBlocks + 1) * BlockBits, ^uint64(0) &^ 255} {
		if _, err := NewShape(Shape{M: m}); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("m=%d: %v, want ErrGoal", m, err)
		}
	}
	if err := (Shape{M: maxBlocks * BlockBits}).checkGoal(); err != nil {
		t.Errorf("the largest shape: %v", err)
	}
	s, err := Plan(umbel.Goal{Keys: 1e6, FPRate: 0.01, Hasher: ParquetHasher})
	if perKey := float64(s.M) / 1e6; err != nil || perKey < 10.4 || perKey > 10.6 || s.Hasher != ParquetHasher {
		t.Errorf("%v, %v, want about 10.5 bits per key", s, err)
	}
	if s, err = Plan(umbel.Goal{Keys: 100, Bytes: 65}); err != nil || s.M != 512 {
		t.Errorf("65 bytes: %v, %v, want two blocks", s, err)
	}
}

// TestBlockOfLargest: with 2^32 blocks, the block is the high half of the digest.
func TestBlockOfLargest(t *testing.T) {
	f := Filter{blocks: maxBlocks}
	if got := f.first(^uint64(0)); got != (maxBlocks-1)*blockWords {
		t.Errorf("block of the largest hash begins at word %d, want %d", got, uint64(maxBlocks-1)*blockWords)
	}
	if err := testFilter(t, 2).Unfold(maxBlocks); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("unfold beyond 2^32 blocks: %v", err)
	}
}
