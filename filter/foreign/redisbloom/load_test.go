package redisbloom_test

import (
	"encoding/binary"
	"errors"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// TestLoad: a dump loads to the same filter, in its own or other chunks, in any order and
// repeatedly.
func TestLoad(t *testing.T) {
	f := reserve(t, redisbloom.Options{ErrorRate: 0.01, Capacity: 50})
	addAll(f, digests(1, 1000))
	chunks, err := f.Chunks()
	if err != nil {
		t.Fatal(err)
	}
	g, err := loadAll(chunks)
	if err != nil {
		t.Fatal(err)
	}
	same(t, g, f)
	addAll(f, digests(2, 1000))
	addAll(g, digests(2, 1000))
	same(t, g, f)

	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var pieces []chunk
		for _, c := range dump(t, f)[1:] {
			for end := len(c.data); end > 0; {
				n := 1 + rng.IntN(end)
				pieces = append(pieces, chunk{c.iter - int64(len(c.data)-end), c.data[end-n : end]})
				end -= n
			}
		}
		pieces = append(pieces, pieces...)
		rng.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
		var l redisbloom.Loader
		load(t, &l, 1, dump(t, f)[0].data)
		for _, p := range pieces {
			load(t, &l, p.iter, p.data)
		}
		if l.Missing() != 0 {
			t.Fatalf("%d bytes are missing", l.Missing())
		}
		g, err := l.Filter()
		if err != nil {
			t.Fatal(err)
		}
		same(t, g, f)
	}
}

func load(t *testing.T, l *redisbloom.Loader, iter int64, data []byte) {
	t.Helper()
	if err := l.LoadChunk(iter, data); err != nil {
		t.Fatalf("LoadChunk(%d, %d bytes): %v", iter, len(data), err)
	}
}

// loadAll returns the filter of the chunks.
func loadAll(chunks iter.Seq2[int64, []byte]) (*redisbloom.Filter, error) {
	var l redisbloom.Loader
	for iter, data := range chunks {
		if err := l.LoadChunk(iter, data); err != nil {
			return nil, err
		}
	}
	return l.Filter()
}

// TestLoadIncomplete: an incomplete filter is refused, since it would have false negatives.
func TestLoadIncomplete(t *testing.T) {
	f := reserve(t, redisbloom.Options{ErrorRate: 0.01, Capacity: 50})
	addAll(f, digests(1, 100))
	cs := dump(t, f)
	var l redisbloom.Loader
	if _, err := l.Filter(); !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("without a header: %v, want ErrCorrupt", err)
	}
	load(t, &l, 1, cs[0].data)
	load(t, &l, cs[2].iter, cs[2].data)
	load(t, &l, 3, cs[1].data[:2])
	g, err := l.Filter()
	if g != nil || !errors.Is(err, umbel.ErrCorrupt) || !strings.Contains(err.Error(), "70 of 232 bytes are missing, the first at iter 3") {
		t.Errorf("%v, %v", g, err)
	}
	if l.Missing() != 70 {
		t.Errorf("%d bytes are missing, want 70", l.Missing())
	}
	load(t, &l, cs[1].iter, cs[1].data)
	g, err = l.Filter()
	if err != nil {
		t.Fatal(err)
	}
	same(t, g, f)
	if err := l.LoadChunk(3, []byte{0}); !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("a chunk after the filter was taken: %v, want ErrCorrupt", err)
	}
}

// TestFromHeader: a filter made from a header gets its bits through its state. A header of a
// filter above the limit is refused.
func TestFromHeader(t *testing.T) {
	f := reserve(t, redisbloom.Options{ErrorRate: 0.01, Capacity: 50})
	addAll(f, digests(1, 100))
	cs := dump(t, f)
	g, err := redisbloom.FromHeader(cs[0].data, 232)
	if err != nil {
		t.Fatal(err)
	}
	if g.Card() != f.Card() || g.Has(digests(1, 1)[0]) {
		t.Errorf("%d items, want %d and no bits", g.Card(), f.Card())
	}
	for i, p := range g.State().Parts {
		copy(p.Arrays[0].Words, f.State().Parts[i].Arrays[0].Words)
	}
	same(t, g, f)
	if g, err := redisbloom.FromHeader(cs[0].data, 231); g != nil || !errors.Is(err, umbel.ErrLimit) {
		t.Errorf("%v, %v, want ErrLimit", g, err)
	}
	if g, err := redisbloom.FromHeader(cs[1].data, 1<<20); g != nil || !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("%v, %v, want ErrCorrupt", g, err)
	}
}

// TestReserveHashed: a filter with another hasher has the sizes of RedisBloom and no dump.
func TestReserveHashed(t *testing.T) {
	o := redisbloom.Options{ErrorRate: 0.001, Capacity: 2000}
	f, err := redisbloom.ReserveHashed(o, umbel.Hasher{Alg: umbel.SipHash, Seed: fixture.Seed(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	if f.Info() != reserve(t, o).Info() || f.Hasher().Alg != umbel.SipHash {
		t.Errorf("%+v with %v", f.Info(), f.Hasher())
	}
	if _, _, err := f.ScanDump(0); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("ScanDump: %v, want ErrMismatch", err)
	}
	if _, err := redisbloom.ReserveHashed(o, umbel.Hasher{Alg: 250}); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("an unknown hasher: %v, want ErrGoal", err)
	}
}

// TestLargeChunks: chunks have at most 16 MiB and never cross the end of a layer.
func TestLargeChunks(t *testing.T) {
	f := reserve(t, redisbloom.Options{ErrorRate: 0.01, Capacity: 15_000_000, NonScaling: true})
	addAll(f, digests(1, 1000))
	cs := dump(t, f)
	if len(cs) != 3 || len(cs[1].data) != 16<<20 || cs[1].iter != 16<<20+1 || cs[2].iter != cs[1].iter+int64(len(cs[2].data)) {
		t.Fatalf("%d chunks", len(cs))
	}
	var l redisbloom.Loader
	for _, c := range cs {
		load(t, &l, c.iter, c.data)
	}
	g, err := l.Filter()
	if err != nil {
		t.Fatal(err)
	}
	wantAll(t, g, digests(1, 1000))
}

// A filter with another hash has no dump.
func TestDumpRefuses(t *testing.T) {
	f, err := redisbloom.Kind.New(umbel.Goal{Keys: 100, FPRate: 0.01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.(*redisbloom.Filter).ScanDump(0); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("ScanDump: %v, want ErrMismatch", err)
	}
	if _, err := f.(*redisbloom.Filter).Chunks(); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("Chunks: %v, want ErrMismatch", err)
	}
	if _, err := new(redisbloom.Filter).Chunks(); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("Chunks of the zero filter: %v, want ErrGoal", err)
	}
}

// TestHeaders: headers that RedisBloom refuses, and some that would make it fail, are refused.
func TestHeaders(t *testing.T) {
	f := reserve(t, redisbloom.Options{ErrorRate: 0.1, Capacity: 4})
	addAll(f, digests(1, 6))
	good := dump(t, f)[0].data
	le := binary.LittleEndian
	const second = 20 + 53
	put8 := func(at int, v uint64) func([]byte) []byte {
		return func(b []byte) []byte { le.PutUint64(b[at:], v); return b }
	}
	put4 := func(at int, v uint32) func([]byte) []byte {
		return func(b []byte) []byte { le.PutUint32(b[at:], v); return b }
	}
	both := func(fs ...func([]byte) []byte) func([]byte) []byte {
		return func(b []byte) []byte {
			for _, f := range fs {
				b = f(b)
			}
			return b
		}
	}
	for name, c := range map[string]struct {
		change func([]byte) []byte
		want   error
	}{
		"as it is":              {func(b []byte) []byte { return b }, nil},
		"empty":                 {func([]byte) []byte { return nil }, umbel.ErrCorrupt},
		"cut short":             {func(b []byte) []byte { return b[:len(b)-1] }, umbel.ErrCorrupt},
		"a byte too many":       {func(b []byte) []byte { return append(b, 0) }, umbel.ErrCorrupt},
		"a layer missing":       {func(b []byte) []byte { return b[:second] }, umbel.ErrCorrupt},
		"no layers":             {func(b []byte) []byte { le.PutUint32(b[8:], 0); return b[:20] }, umbel.ErrCorrupt},
		"2^32-1 layers":         {put4(8, math.MaxUint32), umbel.ErrCorrupt},
		"another size":          {put8(0, 7), umbel.ErrCorrupt},
		"entries that overflow": {both(put8(0, 3), put8(20+16, 1<<63+1), put8(second+16, 1<<63+2)), umbel.ErrCorrupt},
		"unknown options":       {put4(12, 16+5), umbel.ErrCorrupt},
		"a hash of 32 bits":     {put4(12, 1), errors.ErrUnsupported},
		"no expansion":          {put4(16, 0), umbel.ErrCorrupt},
		"no expansion, fixed":   {both(put4(12, 13), put4(16, 0)), nil},
		"bits of other bytes":   {put8(20, 16), umbel.ErrCorrupt},
		"part of a word":        {both(put8(20, 9), put8(28, 72)), umbel.ErrCorrupt},
		"no bits":               {both(put8(20, 0), put8(28, 0)), umbel.ErrCorrupt},
		"bits that overflow":    {both(put8(20, 8), put8(28, 64+1<<63)), umbel.ErrCorrupt},
		"an error of 0":         {put8(20+24, 0), umbel.ErrCorrupt},
		"an error of 1":         {put8(20+24, math.Float64bits(1)), umbel.ErrCorrupt},
		"no number":             {put8(20+24, math.Float64bits(math.NaN())), umbel.ErrCorrupt},
		"bits per key, none":    {put8(20+32, math.Float64bits(math.NaN())), umbel.ErrCorrupt},
		"bits per key, endless": {put8(20+32, math.Float64bits(math.Inf(1))), umbel.ErrCorrupt},
		"other hashes":          {put4(20+40, 4), umbel.ErrCorrupt},
		"a million hashes":      {both(put4(20+40, 1e6), put8(20+32, math.Float64bits(1e6/0.693147180559945))), umbel.ErrCorrupt},
		"no hashes":             {both(put4(20+40, 0), put8(20+32, 0)), umbel.ErrCorrupt},
		"no capacity":           {put8(20+44, 0), umbel.ErrCorrupt},
		"n2 of the size":        {func(b []byte) []byte { b[72] = 6; return b }, nil},
		"n2 of another size":    {func(b []byte) []byte { b[72] = 7; return b }, umbel.ErrCorrupt},
		"n2 of 255":             {func(b []byte) []byte { b[72] = 255; return b }, umbel.ErrCorrupt},
		"a gigabyte":            {both(put8(20, 1<<30), put8(28, 1<<33)), umbel.ErrLimit},
		"2^53 bytes":            {both(put8(20, 1<<53), put8(28, 1<<56)), umbel.ErrLimit},
		"2^61-8 bytes":          {both(put8(20, 1<<61-8), put8(28, 1<<64-64)), umbel.ErrCorrupt},
	} {
		var l redisbloom.Loader
		header := c.change(slices.Clone(good))
		err := l.LoadChunk(1, header)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if err == nil {
			load(t, &l, 9, make([]byte, 8))
			load(t, &l, 17, make([]byte, 8))
			g, err := l.Filter()
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if got := dump(t, g)[0].data; string(got) != string(header) {
				t.Errorf("%s: dumped as % x, want % x", name, got, header)
			}
		}
	}
}

// TestHeaderAllocates: the memory for a header is proportional to its bytes. Memory for the
// layers is allocated when bits arrive, within the limit.
func TestHeaderAllocates(t *testing.T) {
	f := reserve(t, redisbloom.Options{ErrorRate: 0.1, Capacity: 100_000_000})
	header := dump(t, f)[0].data
	if got := testing.AllocsPerRun(10, func() {
		var l redisbloom.Loader
		load(t, &l, 1, header)
	}); got > 10 {
		t.Errorf("%v allocations, want at most 10", got)
	}
	l := redisbloom.Loader{MaxBytes: 1 << 20}
	if err := l.LoadChunk(1, header); !errors.Is(err, umbel.ErrLimit) {
		t.Errorf("%v, want ErrLimit", err)
	}
}

// TestLoadedGrowth: the first addition to a loaded filter doesn't allocate unlimited memory.
func TestLoadedGrowth(t *testing.T) {
	f := reserve(t, redisbloom.Options{ErrorRate: 0.1, Capacity: 4, Expansion: redisbloom.MaxExpansion})
	addAll(f, digests(1, 4))
	cs := dump(t, f)
	le := binary.LittleEndian
	le.PutUint64(cs[0].data, 1<<40)
	le.PutUint64(cs[0].data[36:], 1<<40)
	le.PutUint64(cs[0].data[64:], 1<<40)
	var l redisbloom.Loader
	for _, c := range cs {
		load(t, &l, c.iter, c.data)
	}
	g, err := l.Filter()
	if err != nil {
		t.Fatal(err)
	}
	d := digests(9, 1)[0]
	if _, err := g.TryAdd(d); !errors.Is(err, umbel.ErrLimit) {
		t.Errorf("%v, want ErrLimit", err)
	}
	if !g.Add(d) || !g.Has(d) || g.Info().Filters != 1 {
		t.Errorf("added: %+v", g.Info())
	}
}

// FuzzLoad loads headers and chunks that are cut from the input, with lengths and iterators from
// the input. If a filter is loaded, it works, and its dump is the input.
func FuzzLoad(f *testing.F) {
	filter := reserve(f, redisbloom.Options{ErrorRate: 0.1, Capacity: 4})
	addAll(filter, digests(1, 6))
	cs := dump(f, filter)
	f.Add(cs[0].data, cs[1].iter, cs[1].data, cs[2].iter, cs[2].data)
	f.Add(cs[0].data, int64(17), cs[2].data, int64(5), cs[1].data[:4])
	f.Fuzz(func(t *testing.T, header []byte, i1 int64, d1 []byte, i2 int64, d2 []byte) {
		l := redisbloom.Loader{MaxBytes: 1 << 12}
		if err := l.LoadChunk(1, header); err != nil {
			wantSentinel(t, err)
			return
		}
		wantSentinel(t, l.LoadChunk(i1, d1))
		wantSentinel(t, l.LoadChunk(i2, d2))
		g, err := l.Filter()
		if wantSentinel(t, err); err != nil {
			if l.Missing() == 0 {
				t.Fatalf("nothing is missing: %v", err)
			}
			for iter := int64(2); l.Missing() > 0; iter++ {
				wantSentinel(t, l.LoadChunk(iter, []byte{1}))
			}
			if g, err = l.Filter(); err != nil {
				t.Fatal(err)
			}
		}
		if got := dump(t, g)[0].data; string(got) != string(header) {
			t.Fatalf("dumped as % x, want % x", got, header)
		}
		g.SetMaxBytes(1 << 16)
		ds := digests(1, 20)
		addAll(g, ds)
		wantAll(t, g, ds)
		g.Stats()
		_ = g.Fold(2)
		_ = g.Merge(g.State())
		wantAll(t, g, ds)
	})
}

func wantSentinel(t *testing.T, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, umbel.ErrCorrupt) && !errors.Is(err, umbel.ErrLimit) {
		t.Fatalf("the error %q wraps no sentinel for it", err)
	}
}
