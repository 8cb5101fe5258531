package eliasfano

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel/cells"
)

// draw returns n distinct numbers below bound, sorted; n is at most half of bound, or
// bound itself.
func draw(seed, n, bound uint64) []uint64 {
	rng := rand.New(rand.NewPCG(seed, n))
	xs := make([]uint64, 0, n+n/8)
	for uint64(len(xs)) < n {
		for uint64(len(xs)) < n {
			xs = append(xs, rng.Uint64N(bound))
		}
		slices.Sort(xs)
		xs = slices.Compact(xs)
	}
	return xs
}

func build(t testing.TB, bound uint64, xs []uint64) List {
	t.Helper()
	l, err := Build(bound, uint64(len(xs)), slices.Values(xs))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// lists are sorted lists of all sorts: none, one, all, evenly spread, in one place, in copies at
// equal distances. In those with 70000 numbers in one place, 1024 buckets take more than 2^16
// high bits.
func lists() map[string]struct {
	bound uint64
	xs    []uint64
} {
	type list = struct {
		bound uint64
		xs    []uint64
	}
	row := func(first, step uint64, n int) []uint64 {
		xs := make([]uint64, n)
		for i := range xs {
			xs[i] = first + uint64(i)*step
		}
		return xs
	}
	return map[string]list{
		"none below 1":            {1, nil},
		"none":                    {1 << 40, nil},
		"none below the largest":  {MaxBound, nil},
		"all of 1":                {1, row(0, 1, 1)},
		"all":                     {300, row(0, 1, 300)},
		"the first":               {1000, row(0, 1, 1)},
		"the last":                {1000, row(999, 1, 1)},
		"both ends":               {MaxBound, []uint64{0, MaxBound - 1}},
		"half":                    {1 << 12, row(1, 2, 1<<11)},
		"dense":                   {4000, draw(1, 1900, 4000)},
		"at 1 %":                  {100 * 12345, draw(2, 12345, 100*12345)},
		"at a millionth":          {1e6 * 777, draw(3, 777, 1e6*777)},
		"all in one place":        {1 << 40, row(1<<39+77, 1, 70000)},
		"two places":              {1 << 40, append(row(77, 3, 70000), row(1<<39, 1, 1000)...)},
		"the last place":          {1 << 40, append(row(77, 1<<20, 1000), row(1<<40-70000, 1, 70000)...)},
		"at the end":              {1 << 30, row(1<<30-20000, 1, 20000)},
		"few in one place, many":  {1 << 24, append(draw(4, 60000, 1<<22), row(1<<23, 1, 20)...)},
		"copies at equal strides": {64 << 20, row(5, 64, 20000)},
	}
}

// TestList: a list contains, in order, the numbers that it was built from and nothing else. Its
// arrays open to the same list, and the functions return its sizes.
func TestList(t *testing.T) {
	for name, c := range lists() {
		t.Run(name, func(t *testing.T) {
			l := build(t, c.bound, c.xs)
			n := uint64(len(c.xs))
			if l.Len() != n || l.Bound() != c.bound {
				t.Fatalf("%d numbers below %d, want %d below %d", l.Len(), l.Bound(), n, c.bound)
			}
			if got := slices.Collect(l.All); !slices.Equal(got, c.xs) {
				t.Fatalf("%d numbers come back, of other values or order than the %d", len(got), n)
			}
			high, low := l.Arrays()
			if high.Len != HighBits(n, c.bound) || low.Len != LowBits(n, c.bound) {
				t.Errorf("%d and %d bits, want %d and %d", high.Len, low.Len, HighBits(n, c.bound), LowBits(n, c.bound))
			}
			opened, err := Open(c.bound, high, low)
			if err != nil {
				t.Fatal(err)
			}
			wantHas(t, &l, c.xs)
			wantHas(t, &opened, c.xs)
			if high, far := high.Bytes(), uint64(len(l.dir.far))*8; far > high || (far > 0) != (n >= 70000) {
				t.Errorf("%d bytes of positions and %d of high bits for %d numbers, want at most as many positions, and none below 70000 numbers", far, high, n)
			}
		})
	}
}

// wantHas fails unless Has is true for xs and false for other numbers, around them and
// elsewhere.
func wantHas(t *testing.T, l *List, xs []uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(len(xs))))
	var ask []uint64
	for i := 0; i < len(xs); i += 1 + len(xs)/8000 {
		ask = append(ask, xs[i], xs[i]-1, xs[i]+1)
	}
	for range 1000 {
		ask = append(ask, rng.Uint64N(l.bound))
	}
	ask = append(ask, 0, l.bound-1, l.bound/2)
	ask = slices.DeleteFunc(ask, func(x uint64) bool { return x >= l.bound })
	all := make([]bool, len(ask)+1)
	all[len(ask)] = true
	l.HasAll(all[:len(ask)], ask)
	if !all[len(ask)] {
		t.Fatal("HasAll writes behind its answers")
	}
	for i, x := range ask {
		_, want := slices.BinarySearch(xs, x)
		if got := l.Has(x); got != want || all[i] != want {
			t.Fatalf("Has(%d) is %v, in a batch %v, want %v", x, got, all[i], want)
		}
	}
}

func TestListOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bound := rapid.Uint64Range(1, 1<<rapid.IntRange(0, 20).Draw(t, "log")).Draw(t, "bound")
		xs := rapid.SliceOf(rapid.Uint64Range(0, bound-1)).Draw(t, "numbers")
		slices.Sort(xs)
		xs = slices.Compact(xs)
		l, err := Build(bound, uint64(len(xs)), slices.Values(xs))
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Collect(l.All); !slices.Equal(got, xs) {
			t.Fatalf("%d come back, want %d", got, xs)
		}
		for range 20 {
			x := rapid.Uint64Range(0, bound-1).Draw(t, "x")
			_, want := slices.BinarySearch(xs, x)
			if got := l.Has(x); got != want {
				t.Fatalf("Has(%d) is %v, want %v", x, got, want)
			}
		}
	})
}

// TestLowIsLeast: the number of low bits that Low returns gives the smallest size.
func TestLowIsLeast(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		bound := 1 + rng.Uint64N(MaxBound)>>rng.UintN(56)
		n := 1 + rng.Uint64N(bound)>>rng.UintN(40)
		got := HighBits(n, bound) + LowBits(n, bound)
		least := got
		for low := range uint(56) {
			if b := buckets(bound, low); b < 1<<58 {
				least = min(least, n+b+n*uint64(low))
			}
		}
		// An end that isn't a whole bucket may make one bucket more than half as many.
		if got > least+1 {
			t.Errorf("%d numbers below %d take %d bits, want %d", n, bound, got, least)
		}
	}
}

// TestEliasBound: the size is at most the n(2 + log2(bound/n)) bits of Elias 1974.
func TestEliasBound(t *testing.T) {
	for _, c := range []struct{ n, bound, want uint64 }{
		{1000, 64000, 8000},    // 2 + 6 bits a number
		{1000, 90000, 8407},    // 6 low bits, 1407 buckets
		{1000, 100000, 8563},   // 7.64 bits is the entropy plus 0.4
		{1000, 127999, 9000},   // one below the next power of two
		{1000, 128000, 9000},   // and there
		{10000, 920000, 84375}, // Mitzenmacher 2002, table I: 92 bits a key
	} {
		if got := HighBits(c.n, c.bound) + LowBits(c.n, c.bound); got != c.want {
			t.Errorf("%d numbers below %d take %d bits, want %d", c.n, c.bound, got, c.want)
		}
	}
}

// TestOpenRefuses: Open refuses arrays that no list has.
func TestOpenRefuses(t *testing.T) {
	xs := []uint64{3, 70, 71, 500, 999}
	for name, change := range map[string]func(bound *uint64, high, low *cells.Array){
		"a bound of 0":                   func(b *uint64, _, _ *cells.Array) { *b = 0 },
		"a bound too large":              func(b *uint64, _, _ *cells.Array) { *b = MaxBound + 1 },
		"another bound":                  func(b *uint64, _, _ *cells.Array) { *b = 2000 },
		"fewer than numbers":             func(b *uint64, _, _ *cells.Array) { *b = 4 },
		"the last at the bound":          func(b *uint64, _, _ *cells.Array) { *b = 999 },
		"a one more":                     func(_ *uint64, h, _ *cells.Array) { h.Words[0] |= h.Words[0] << 1 },
		"none":                           func(_ *uint64, h, _ *cells.Array) { h.Clear() },
		"a number beyond all buckets":    func(_ *uint64, h, _ *cells.Array) { h.Words[0] = h.Words[0]&^1 | 1<<(h.Len-1) },
		"no high bits":                   func(_ *uint64, h, _ *cells.Array) { *h = cells.Array{} },
		"no low bits":                    func(_ *uint64, _, l *cells.Array) { *l = cells.Array{} },
		"high bits in wider cells":       func(_ *uint64, h, _ *cells.Array) { h.Width, h.Len = 2, h.Len/2 },
		"low bits in a word too many":    func(_ *uint64, _, l *cells.Array) { l.Words = append(l.Words, 0) },
		"a number twice":                 func(_ *uint64, _, l *cells.Array) { swapLow(l, 2, 70) },
		"two numbers in the wrong order": func(_ *uint64, _, l *cells.Array) { swapLow(l, 2, 69) },
	} {
		l := build(t, 1000, xs)
		high, low := l.Arrays()
		bound := uint64(1000)
		change(&bound, &high, &low)
		if _, err := Open(bound, high, low); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// swapLow sets the 7 low bits of number i to those of x.
func swapLow(low *cells.Array, i int, x uint64) {
	low.Words[0] = low.Words[0]&^(0x7f<<(7*i)) | x&0x7f<<(7*i)
}

func TestSelectOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		x := rng.Uint64() & (rng.Uint64() | -rng.Uint64N(2))
		left := x
		for n := range uint64(bits.OnesCount64(x)) {
			if got, want := selectOne(x, n), bits.TrailingZeros64(left); got != want {
				t.Fatalf("bit %d of %#x is at %d, want %d", n, x, got, want)
			}
			left &= left - 1
		}
	}
}

// TestDirectoryIsSmall: in addition to the arrays, a list takes at most five eighths of a bit
// per number if the numbers are evenly spread.
func TestDirectoryIsSmall(t *testing.T) {
	for _, n := range []uint64{5000, 100000} {
		for _, bound := range []uint64{64 * n, 100 * n, 127 * n} {
			l := build(t, bound, draw(7, n, bound))
			high, low := l.Arrays()
			if directory := 8 * (l.Bytes() - high.Bytes() - low.Bytes()); directory > n*5/8+200 {
				t.Errorf("%d numbers below %d: %d bits of directory, want %d at most", n, bound, directory, n*5/8+200)
			}
		}
	}
}

func TestBuildPanics(t *testing.T) {
	for name, c := range map[string]struct{ bound, n uint64 }{
		"no bound": {0, 0}, "too large a bound": {MaxBound + 1, 0}, "more than the bound": {2, 3}, "another count": {10, 1},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			_, _ = Build(c.bound, c.n, slices.Values([]uint64{1, 2}))
		}()
	}
}

func FuzzOpen(f *testing.F) {
	for _, xs := range [][]uint64{{}, {3, 70, 71, 500, 999}} {
		l := build(f, 1000, xs)
		high, low := l.Arrays()
		f.Add(uint64(1000), high.Len, first(high), low.Len, first(low))
	}
	f.Fuzz(func(t *testing.T, bound, highBits, high, lowBits, low uint64) {
		plane := func(n, word uint64) cells.Array {
			a := cells.Array{Len: n, Width: 1}
			if n > 0 {
				a.Words = []uint64{word}
			}
			return a
		}
		l, err := Open(bound, plane(highBits, high), plane(lowBits, low))
		if err != nil {
			return
		}
		n := uint64(0)
		for x := range l.All {
			if !l.Has(x) || x >= bound {
				t.Fatalf("%d below %d isn't there", x, bound)
			}
			n++
		}
		if n != l.Len() {
			t.Fatalf("%d numbers, want %d", n, l.Len())
		}
		l.Has(bound - 1)
	})
}

func first(a cells.Array) uint64 {
	if len(a.Words) == 0 {
		return 0
	}
	return a.Words[0]
}

// interpolation is the search in a sorted list of 32-bit or 64-bit numbers that Mitzenmacher
// 2002 proposes in section III-A.
func interpolation[T uint32 | uint64](xs []T, x T) bool {
	low, high := 0, len(xs)-1
	for low <= high && xs[low] <= x && x <= xs[high] {
		if xs[low] == xs[high] {
			return true
		}
		hi, lo := bits.Mul64(uint64(x-xs[low]), uint64(high-low))
		q, _ := bits.Div64(hi, lo, uint64(xs[high]-xs[low]))
		switch mid := low + int(q); {
		case xs[mid] == x:
			return true
		case xs[mid] < x:
			low = mid + 1
		default:
			high = mid - 1
		}
	}
	return false
}

func BenchmarkHas(b *testing.B) {
	for _, n := range []uint64{10_000, 100_000, 10_000_000} {
		if n > 1_000_000 && testing.Short() {
			continue
		}
		bound := 100 * n
		xs := draw(1, n, bound)
		l := build(b, bound, xs)
		narrow := make([]uint32, n)
		for i, x := range xs {
			narrow[i] = uint32(x)
		}
		rng := rand.New(rand.NewPCG(3, 4))
		in, out := make([]uint64, 1<<14), make([]uint64, 1<<14)
		for i := range in {
			in[i], out[i] = xs[rng.IntN(len(xs))], rng.Uint64N(bound)
		}
		yes := 0
		answers := make([]bool, 1<<14)
		for name, ask := range map[string]func(x uint64) bool{
			"elias-fano":       l.Has,
			"interpolation-64": func(x uint64) bool { return interpolation(xs, x) },
			"interpolation-32": func(x uint64) bool { return interpolation(narrow, uint32(x)) },
			"batch":            nil,
		} {
			for what, qs := range map[string][]uint64{"hit": in, "miss": out} {
				b.Run(fmt.Sprintf("%s/%s/n=%d", name, what, n), func(b *testing.B) {
					for b.Loop() {
						if ask == nil {
							l.HasAll(answers, qs)
							continue
						}
						for _, x := range qs {
							if ask(x) {
								yes++
							}
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(qs)), "ns/key")
				})
			}
		}
	}
}

// BenchmarkHasCrowded queries a list whose numbers are all in one bucket, as in an untrusted
// list, for the last of them.
func BenchmarkHasCrowded(b *testing.B) {
	const n = 1 << 20
	l, err := Build(n<<20, n, func(yield func(uint64) bool) {
		for x := range uint64(n) {
			if !yield(x) {
				return
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if !l.Has(n - 1) {
			b.Fatal("no")
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	const n = 100_000
	xs := draw(1, n, 100*n)
	b.Run(fmt.Sprintf("build/slice/n=%d", n), func(b *testing.B) {
		for b.Loop() {
			build(b, 100*n, xs)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/key")
	})
	l := build(b, 100*n, xs)
	b.Run(fmt.Sprintf("all/cursor/n=%d", n), func(b *testing.B) {
		sum := uint64(0)
		for b.Loop() {
			for x := range l.All {
				sum += x
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/key")
	})
}
