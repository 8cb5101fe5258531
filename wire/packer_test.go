package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"testing/iotest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
	"pgregory.net/rapid"
)

func mustPack(t testing.TB, s umbel.State) []byte {
	t.Helper()
	b, err := wire.Packer{}.Append(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// random returns an array whose cells are nonzero with probability fill. Counters are
// geometrically distributed.
func random(t testing.TB, len uint64, width uint, fill float64) cells.Array {
	t.Helper()
	a := wiretest.Array(t, len, width, wiretest.Zeros)
	r := rand.New(rand.NewPCG(len, uint64(width)))
	for i := range len {
		for v := uint64(1); v <= min(a.Limit(), 20) && r.Float64() < fill; v++ {
			a.Put(i, v)
		}
	}
	return a
}

// packed is a small state with blocks in all codings.
func packed(t testing.TB) umbel.State {
	s := wiretest.Sample(t)
	s.Arrays = append(s.Arrays, random(t, 700, 1, 0.1), random(t, 200, 4, 0.3), random(t, 100, 16, 0.2),
		wiretest.Array(t, 5000, 1, func(i int) uint64 { return uint64(i / 70) }))
	return s
}

// sameAllWays fails unless s is read again from what a Packer writes, by all functions and with
// any number of workers.
func sameAllWays(t *testing.T, name string, s umbel.State) {
	t.Helper()
	b := mustPack(t, s)
	if most := wire.Size(s); uint64(len(b)) > most {
		t.Errorf("%s: %d bytes, Size says %d at most", name, len(b), most)
	}
	for _, workers := range []int{0, 4} {
		var w bytes.Buffer
		if err := (wire.Packer{Workers: workers}).Write(&w, s); err != nil || !bytes.Equal(w.Bytes(), b) {
			t.Errorf("%s: Write with %d workers differs from Append: %v", name, workers, err)
		}
		l := wire.Limits{Workers: workers}
		if got, err := wire.Parse(b, l); err != nil || !wiretest.Equal(got, s) {
			t.Errorf("%s: Parse with %d workers: %v", name, workers, err)
		}
		if got, err := wire.Read(&w, l); err != nil || !wiretest.Equal(got, s) {
			t.Errorf("%s: Read with %d workers: %v", name, workers, err)
		}
		if got, err := assembled(b, l); err != nil || !wiretest.Equal(got, s) {
			t.Errorf("%s: Scan with %d workers: %v", name, workers, err)
		}
	}
}

func TestPackerRoundTrip(t *testing.T) {
	for _, width := range wiretest.Widths {
		for _, n := range []uint64{0, 1, 63, 64, 65, 1000, 8191 * 64 / uint64(width), 3<<19/uint64(width) + 1} {
			for _, fill := range []float64{0, 0.0001, 0.01, 0.13, 0.5, 0.97, 1} {
				if n > 1000 && fill != 0.13 && (width > 1 || testing.Short()) {
					continue
				}
				s := umbel.State{Kind: "x", Arrays: []cells.Array{random(t, n, width, fill)}}
				sameAllWays(t, fmt.Sprintf("%d cells of %d bits, fill %g", n, width, fill), s)
			}
		}
	}
	sameAllWays(t, "all codings", packed(t))
	if testing.Short() {
		return
	}
	sameAllWays(t, "more jobs than are under way at once", umbel.State{Kind: "x", Arrays: []cells.Array{
		wiretest.Array(t, 80<<19-77, 1, func(i int) uint64 {
			return wiretest.Noise(i) & wiretest.Noise(i+1) & wiretest.Noise(i+2) & wiretest.Noise(i+3) & -uint64(i>>13&1)
		}),
	}})
}

func TestPackerRapid(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := wiretest.DrawState(rt, umbel.MaxDepth)
		b, err := wire.Packer{Workers: rapid.IntRange(0, 3).Draw(rt, "workers")}.Append(nil, s)
		if err != nil || uint64(len(b)) > wire.Size(s) {
			rt.Fatalf("Append: %d bytes, %v", len(b), err)
		}
		got, err := wire.Parse(b, wire.Limits{Bytes: s.Bytes()})
		if err != nil || !wiretest.Equal(got, s) || hashtree.Identify(got) != hashtree.Identify(s) {
			rt.Fatalf("Parse: %v", err)
		}
	})
}

// TestCodings: each block has the expected coding, and no block takes more than raw.
func TestCodings(t *testing.T) {
	every := func(n int) func(int) uint64 {
		return func(i int) uint64 {
			if i%n == 0 {
				return 1
			}
			return 0
		}
	}
	for _, c := range []struct {
		name string
		a    cells.Array
		want string
		most uint64 // bytes
	}{
		{"nothing", wiretest.Array(t, 1<<19, 1, wiretest.Zeros), "empty", 1},
		{"all", wiretest.Array(t, 1<<19-5, 1, wiretest.Ones), "full", 1},
		{"all counters", wiretest.Array(t, 1000, 8, wiretest.Ones), "full", 1},
		{"half", wiretest.Array(t, 1<<19, 1, wiretest.Noise), "raw", 1 + 1<<16},
		{"an eighth", wiretest.Array(t, 1<<19, 1, func(i int) uint64 { return wiretest.Noise(3*i) & wiretest.Noise(3*i+1) & wiretest.Noise(3*i+2) }), "arithmetic", 35700},
		{"all but a 64th", wiretest.Array(t, 1<<19, 1, func(i int) uint64 { return ^(1 << (wiretest.Noise(i) & 63)) }), "arithmetic", 7700},
		{"few counters", random(t, 1<<17, 4, 0.1), "arithmetic", 10000},
		{"one", wiretest.Array(t, 1<<19, 1, first), "arithmetic", 1 + 1 + 1 + 3},
		{"a grid", wiretest.Array(t, 1<<19, 1, every(8)), "positions", 1300},
		{"a coarse grid of counters", wiretest.Array(t, 1<<17, 4, every(64)), "arithmetic", 400},
		{"random counters", wiretest.Array(t, 1<<13, 64, wiretest.Noise), "raw", 1 + 1<<16},
		{"random bytes", wiretest.Array(t, 1<<16, 8, wiretest.Noise), "raw", 1 + 1<<16},
		{"one word of noise", wiretest.Array(t, 64, 1, wiretest.Noise), "raw", 9},
		{"one byte", wiretest.Array(t, 1, 8, func(int) uint64 { return 1 }), "arithmetic", 4},
		{"halves", wiretest.Array(t, 1<<19, 1, func(i int) uint64 { return -uint64(i >> 12) }), "raw", 1 + 1<<16},
		{"stripes", wiretest.Array(t, 1<<19, 1, func(int) uint64 { return 0x5555555555555555 }), "raw", 1 + 1<<16},
	} {
		s := umbel.State{Kind: "x", Arrays: []cells.Array{c.a}}
		got, err := stats(s)
		if err != nil {
			t.Fatal(err)
		}
		for name, tally := range map[string]wire.BlockStats{
			"raw": got.Raw, "empty": got.Empty, "full": got.Full, "arithmetic": got.Arithmetic, "positions": got.Positions,
		} {
			switch {
			case name != c.want && tally != (wire.BlockStats{}):
				t.Errorf("%s: %s, want %s", c.name, name, c.want)
			case name == c.want && (tally.Blocks != 1 || tally.Bytes > c.most || tally.Bytes == 0):
				t.Errorf("%s: %d %s blocks of %d bytes, want one of %d at most", c.name, tally.Blocks, name, tally.Bytes, c.most)
			}
		}
		sameAllWays(t, c.name, s)
	}
}

func first(i int) uint64 {
	if i == 0 {
		return 1
	}
	return 0
}

// TestPackedToTheEntropy: random bits take their entropy and less than ten bytes per block.
// Coding, length and level take 4 or 5 of these. The steps of the level cost more if there are
// many ones, where levels are coarser.
func TestPackedToTheEntropy(t *testing.T) {
	const blocks = 4
	for _, fill := range []float64{0.005, 0.01, 0.13, 0.3, 0.45, 0.7, 0.9} {
		s := umbel.State{Kind: "x", Arrays: []cells.Array{sown(t, blocks<<19, fill)}}
		c, err := stats(s)
		if err != nil {
			t.Fatal(err)
		}
		m := float64(blocks << 19)
		x := float64(s.Arrays[0].Nonzero())
		if h := -x*math.Log2(x/m) - (m-x)*math.Log2(1-x/m); c.Entropy > h || c.Entropy < 0.999*h {
			t.Errorf("fill %g: entropy of the blocks %f, of all %f", fill, c.Entropy, h)
		}
		if more := float64(c.Arithmetic.Bytes) - c.Entropy/8; c.Arithmetic.Blocks != blocks || more > 10*blocks {
			t.Errorf("fill %g: %d blocks take %.1f bytes more than their entropy, want %d and %d at most",
				fill, c.Arithmetic.Blocks, more, blocks, 10*blocks)
		}
	}
}

// TestRareToTheEntropy: packed arrays of random bits take at most 0.3 % more than the logarithm of the number of ways to
// choose their ones, at all rates, and the head.
func TestRareToTheEntropy(t *testing.T) {
	const head = 60
	for _, c := range []struct {
		ones uint64
		rate float64
	}{{1e5, 0.1}, {1e5, 0.03}, {1e5, 0.01}, {1e5, 0.005}, {1e5, 0.002}, {1e5, 0.001}, {1e5, 3e-4}, {1e5, 1e-4}, {2e4, 1e-5}} {
		m := uint64(float64(c.ones) / c.rate)
		rng := rand.New(rand.NewPCG(m, c.ones))
		at := make([]uint64, c.ones)
		for i := range at {
			at[i] = rng.Uint64N(m)
		}
		slices.Sort(at)
		at = slices.Compact(at)
		rest := at
		var stats wire.PackStats
		s := umbel.State{Kind: "x", Arrays: []cells.Array{{Len: m, Width: 1}}}
		if err := fill(wire.Packer{Stats: &stats}, io.Discard, s, func(b wire.Block) error {
			for len(rest) > 0 && rest[0] < b.First+b.Cells.Len {
				b.Cells.SetBit(rest[0] - b.First)
				rest = rest[1:]
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		ways := 0.0 // bits
		for i := range at {
			ways += math.Log2(float64(m-uint64(i)) / float64(i+1))
		}
		if most := head + 1.003*ways/8; float64(stats.Bytes) > most {
			t.Errorf("%d ones of %d: %d bytes, want %.0f at most", len(at), m, stats.Bytes, most)
		}
	}
}

// Blocks are in a run if that takes fewer bytes: next to each other, and about equally full.
func TestRuns(t *testing.T) {
	const block = 1 << 19
	zeros := wiretest.Array(t, block, 1, wiretest.Zeros)
	join := func(blocks ...cells.Array) (a cells.Array) {
		a.Width = blocks[0].Width
		for _, b := range blocks {
			a.Words, a.Len = append(a.Words, b.Words...), a.Len+b.Len
		}
		return a
	}
	few := func(n int) cells.Array { return sown(t, block, float64(n)/block) }
	many := slices.Repeat([]cells.Array{zeros}, 5000)
	for _, c := range []struct {
		name        string
		a           cells.Array
		rare, alone uint64 // blocks
	}{
		{"one block", few(50), 0, 1},
		{"two blocks, whose heads take less than that of a run", join(few(50), few(60)), 0, 2},
		{"six blocks", random(t, 6*block, 1, 1e-4), 6, 0},
		{"a full block between", join(append([]cells.Array{random(t, 6*block, 1, 1e-4), wiretest.Array(t, block, 1, wiretest.Ones)}, many[:20]...)...), 26, 1},
		{"dense blocks", join(few(9000), few(9000)), 0, 2},
		{"a crowded block between empty ones", join(append(append(slices.Clone(many[:100]), few(1000)), many[:100]...)...), 200, 1},
		{"more empty blocks than a run has", join(many...), 5000, 0},
		{"a short block after an empty one", join(zeros, wiretest.Array(t, 64, 1, wiretest.Noise)), 0, 2},
		{"counters", random(t, 3*block/4, 4, 0.0003), 3, 0},
		{"wide counters", random(t, 5*block/64, 64, 0.001), 5, 0},
	} {
		s := umbel.State{Kind: "x", Arrays: []cells.Array{c.a}}
		got, err := stats(s)
		if err != nil {
			t.Fatal(err)
		}
		if alone := got.Raw.Blocks + got.Empty.Blocks + got.Full.Blocks + got.Arithmetic.Blocks + got.Positions.Blocks; got.Rare.Blocks != c.rare || alone != c.alone {
			t.Errorf("%s: %d blocks in runs and %d alone, want %d and %d", c.name, got.Rare.Blocks, alone, c.rare, c.alone)
		}
		if c.a.Len <= 10*block {
			sameAllWays(t, c.name, s)
		}
	}
}

// TestStatsEntropy: the entropy of counters is that of their values.
func TestStatsEntropy(t *testing.T) {
	a := wiretest.Array(t, 1024, 8, func(i int) uint64 {
		if i < 64 { // half of them 0, a quarter 255 and 1 each
			return 0
		}
		return 0xff01_ff01_ff01_ff01
	})
	c, err := stats(umbel.State{Kind: "x", Arrays: []cells.Array{a}})
	if want := 1024 * 1.5; err != nil || math.Abs(c.Entropy-want) > 1e-6 {
		t.Errorf("entropy %f, want %f (%v)", c.Entropy, want, err)
	}
}

func TestPackerErrors(t *testing.T) {
	dst := []byte("before")
	got, err := wire.Packer{}.Append(dst, umbel.State{})
	if !errors.Is(err, umbel.ErrCorrupt) || !bytes.Equal(got, dst) {
		t.Errorf("Append: %q, %v, want what was there and %v", got, err, umbel.ErrCorrupt)
	}
	if _, err := stats(umbel.State{}); !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("Write: %v, want %v", err, umbel.ErrCorrupt)
	}
	broken := errors.New("broken cable")
	s := umbel.State{Kind: "x", Arrays: []cells.Array{wiretest.Array(t, 100<<19, 1, wiretest.Noise)}}
	for _, workers := range []int{1, 4} {
		for _, n := range []int{0, 1, 1000, 1 << 20} {
			w := &failing{left: n, err: broken}
			if err := (wire.Packer{Workers: workers}).Write(w, s); !errors.Is(err, broken) {
				t.Errorf("Write with %d workers, %d bytes: %v, want %v", workers, n, err, broken)
			}
		}
	}
	wantNoGoroutines(t)
}

// TestShortWrite: a writer that accepts too few bytes without an error ends the writing.
func TestShortWrite(t *testing.T) {
	for name, write := range map[string]func(io.Writer, umbel.State) error{
		"Write": wire.Write, "Packer.Write": wire.Packer{}.Write,
	} {
		if err := write(&failing{left: 20}, wiretest.Sample(t)); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s: %v, want %v", name, err, io.ErrShortWrite)
		}
	}
}

// failing is a writer that fails after a number of bytes.
type failing struct {
	left int
	err  error
}

func (f *failing) Write(b []byte) (int, error) {
	n := min(len(b), f.left)
	if f.left -= n; n < len(b) {
		return n, f.err
	}
	return n, nil
}

// wantNoGoroutines fails if goroutines of package wire still run.
func wantNoGoroutines(t *testing.T) {
	t.Helper()
	b := make([]byte, 1<<20)
	stacks := b[:runtime.Stack(b, true)]
	if bytes.Contains(stacks, []byte("wire.(*line")) {
		t.Errorf("goroutines are left:\n%s", stacks)
	}
}

// TestParallelReadErrors: errors of the source end parallel reading, and no goroutine remains.
func TestParallelReadErrors(t *testing.T) {
	broken := errors.New("broken cable")
	b := mustPack(t, umbel.State{Kind: "x", Arrays: []cells.Array{
		wiretest.Array(t, 60<<19, 1, func(i int) uint64 { return 1 << (wiretest.Noise(i) & 63) }),
	}})
	for _, n := range []int{1, 100, len(b) / 3, len(b) / 2, len(b) - 1} {
		for _, workers := range []int{1, 4} {
			r := io.MultiReader(bytes.NewReader(b[:n]), iotest.ErrReader(broken))
			if _, err := wire.Read(r, wire.Limits{Workers: workers}); !errors.Is(err, broken) {
				t.Errorf("after %d bytes, %d workers: %v, want %v", n, workers, err, broken)
			}
		}
	}
	wantNoGoroutines(t)
}

// TestConcurrentPacking: states can be packed and read concurrently, each with its own workers.
func TestConcurrentPacking(t *testing.T) {
	s := packed(t)
	s.Arrays = append(s.Arrays, wiretest.Array(t, 20<<19, 1, func(i int) uint64 { return 1 << (wiretest.Noise(i) & 63) }))
	want := mustPack(t, s)
	done := make(chan error)
	const many = 4
	for range many {
		go func() {
			b, err := wire.Packer{Workers: 3}.Append(nil, s)
			if err == nil && !bytes.Equal(b, want) {
				err = errors.New("another container")
			}
			if err == nil {
				_, err = wire.Parse(want, wire.Limits{Workers: 3})
			}
			done <- err
		}()
	}
	for range many {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Fatal("stuck")
		}
	}
}

// stats returns what a Packer reports.
func stats(s umbel.State) (c wire.PackStats, err error) {
	return c, (wire.Packer{Stats: &c}).Write(io.Discard, s)
}

// A Packer that reports Stats writes the same bytes, in all ways of writing and with workers.
func TestPackerReports(t *testing.T) {
	s := wiretest.Sample(t)
	for _, raw := range []bool{false, true} {
		want := fixture.Must(wire.Packer{Raw: raw}.Append(nil, s))
		var first wire.PackStats
		for _, workers := range []int{0, 3} {
			c := wire.PackStats{Bytes: 7, Entropy: 7}
			p := wire.Packer{Workers: workers, Raw: raw, Stats: &c}
			for name, write := range map[string]func() ([]byte, error){
				"Append": func() ([]byte, error) { return p.Append(nil, s) },
				"Write": func() ([]byte, error) {
					var b bytes.Buffer
					err := p.Write(&b, s)
					return b.Bytes(), err
				},
				"WriteBlocks": func() ([]byte, error) { return written(p, s) },
			} {
				b, err := write()
				if err != nil || !bytes.Equal(b, want) {
					t.Errorf("%s, raw %v, %d workers: %d bytes, %v, want %d", name, raw, workers, len(b), err, len(want))
				}
				if first == (wire.PackStats{}) {
					first = c
				}
				if c != first || c.Bytes != uint64(len(want)) {
					t.Errorf("%s, raw %v, %d workers: %+v, want %+v", name, raw, workers, c, first)
				}
			}
		}
	}
}

// written returns the container that p makes of the blocks of s.
func written(p wire.Packer, s umbel.State) ([]byte, error) {
	all := s.AllArrays()
	bare := s.AllArrays()
	for i := range bare {
		bare[i].Words = nil
	}
	var w bytes.Buffer
	for b, err := range p.WriteBlocks(&w, s.WithArrays(bare)) {
		if err != nil {
			return nil, err
		}
		copy(b.Cells.Words, all[b.Array].Words[b.First*uint64(b.Cells.Width)/64:])
	}
	return w.Bytes(), nil
}
