package share

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/internal/race"
)

func randomIndex(rng *rand.Rand) *Index {
	ref := func() Ref {
		r := Ref{Bytes: rng.Uint64() >> rng.IntN(64)}
		binary.LittleEndian.PutUint64(r.Hash[:], rng.Uint64())
		return r
	}
	var x Index
	for range rng.IntN(3) {
		x.Snapshots = append(x.Snapshots, Snapshot{rng.Uint64() >> rng.IntN(64), ref()})
	}
	for range rng.IntN(20) {
		to := 2 + rng.Uint64N(1000)
		x.Deltas = append(x.Deltas, Delta{1 + rng.Uint64N(to-1), to, ref()})
	}
	slices.SortFunc(x.Deltas, compareDeltas)
	for n := range uint64(rng.IntN(5)) {
		x.Pages = append(x.Pages, Page{n * 3, ref()})
	}
	for n := range rng.IntN(4) {
		x.Refinements = append(x.Refinements, Refinement{3 << n, 7, ref(), ref()})
	}
	return &x
}

func encode(t testing.TB, x *Index) []byte {
	t.Helper()
	b, err := x.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestIndexRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		x := randomIndex(rng)
		b := encode(t, x)
		var back Index
		if err := back.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(&back, x) {
			t.Fatalf("%v: got %+v, want %+v", err, back, x)
		}
		plain := *x
		plain.Refinements = nil
		whole := len(encode(t, &plain)) // the refinements may be missing
		for n := range b {
			if err := new(Index).UnmarshalBinary(b[:n]); n != whole && !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%d of %d bytes: %v", n, len(b), err)
			}
		}
		if err := back.UnmarshalBinary(append(b, 0)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("a byte follows: %v", err)
		}
		if !reflect.DeepEqual(&back, x) {
			t.Error("an error changed the index")
		}
		for _, p := range x.Pages {
			if r, ok := x.page(p.Number); !ok || r != p.Ref {
				t.Errorf("page %d: %v", p.Number, r)
			}
			if _, ok := x.page(p.Number + 1); ok {
				t.Errorf("page %d exists", p.Number+1)
			}
		}
	}
}

func TestIndexMalformed(t *testing.T) {
	const none = indexMagic
	delta := func(step, length uint64) string {
		b := binary.AppendUvarint(binary.AppendUvarint(nil, step), length)
		return string(appendRef(b, Ref{Bytes: 1}))
	}
	for name, b := range map[string]string{
		"nothing":                       "",
		"another magic":                 "umbidx\n\x02\x00\x00\x00",
		"a number in two forms":         none + "\x80\x00\x00\x00",
		"a number beyond 64 bits":       none + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
		"2^64-1 snapshots":              none + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		"a delta of no version":         none + "\x00\x01" + delta(5, 0) + "\x00",
		"a delta from version 0":        none + "\x00\x01" + delta(5, 5) + "\x00",
		"a delta from before":           none + "\x00\x01" + delta(5, 6) + "\x00",
		"a delta from 2^64-1":           none + "\x00\x01" + delta(5, math.MaxUint64) + "\x00",
		"versions beyond 2^64":          none + "\x00\x02" + delta(math.MaxUint64, 1) + delta(1, 1) + "\x00",
		"back to version 0, a cycle":    none + "\x00\x02" + delta(9, 1) + delta(math.MaxUint64-6, 1) + "\x00",
		"one page in less than 18 byte": none + "\x00\x00\x01" + "0123456789abcdef",
	} {
		if err := new(Index).UnmarshalBinary([]byte(b)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A list that claims a million entries, or contains as many as fit into an index, takes little memory
// and time.
func TestIndexHuge(t *testing.T) {
	race.Skip(t, "uses much memory")
	allocated := func(f func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for name, list := range map[string]int{"snapshots": 0, "deltas": 1, "pages": 2} {
		b := append([]byte(indexMagic), make([]byte, list)...)
		b = append(binary.AppendUvarint(b, 1_000_000), make([]byte, 1000)...)
		if n := allocated(func() {
			if err := new(Index).UnmarshalBinary(b); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: %v", name, err)
			}
		}); n > 64<<10 {
			t.Errorf("%s: %d bytes", name, n)
		}
	}
	var x Index
	for len(x.Deltas) < (maxIndex-64)/(minEntry+1) {
		to := uint64(len(x.Deltas) + 2)
		x.Deltas = append(x.Deltas, Delta{to - 1, to, Ref{Bytes: 1}})
	}
	b := encode(t, &x)
	if len(b) > maxIndex {
		t.Fatalf("%d bytes", len(b))
	}
	if n := allocated(func() {
		var back Index
		if err := back.UnmarshalBinary(b); err != nil {
			t.Error(err)
		}
		last := uint64(len(x.Deltas) + 1)
		if p, _, ok := cheapest([]pathStart{{version: 1}}, back.Deltas, last); ok {
			t.Errorf("a path of %d objects", len(p.objects))
		}
		if p, _, _ := cheapest([]pathStart{{version: last - maxPath}}, back.Deltas, last); len(p.objects) != maxPath {
			t.Errorf("%d objects, want %d", len(p.objects), maxPath)
		}
	}); n > 64<<20 {
		t.Errorf("%d bytes", n)
	}
}

func TestIndexRefinements(t *testing.T) {
	list := func(folds ...uint64) []byte {
		x := &Index{}
		for _, r := range folds {
			x.Refinements = append(x.Refinements, Refinement{r, 9, Ref{Bytes: 1}, Ref{Bytes: 2}})
		}
		return encode(t, x)
	}
	if err := new(Index).UnmarshalBinary(list(2, 4, 12)); err != nil {
		t.Error(err)
	}
	for name, b := range map[string][]byte{
		"an empty list":       append(list(), 0, 9),
		"no version":          append(list(), 1),
		"the whole filter":    list(1),
		"class 0":             list(0),
		"a class twice":       list(4, 4),
		"descending classes":  list(4, 2),
		"not a multiple":      list(4, 6),
		"nine classes":        list(2, 4, 8, 16, 32, 64, 128, 256, 512),
		"a million classes":   append(append(binary.AppendUvarint(list(), 1_000_000), 9), make([]byte, 1000)...),
		"a byte follows":      append(list(4), 0),
		"a byte less":         list(4)[:len(list(4))-1],
		"an absurd number":    append(binary.AppendUvarint(list(), math.MaxUint64), make([]byte, 100)...),
		"a long form of zero": append(list(), 0x80, 0),
	} {
		if err := new(Index).UnmarshalBinary(b); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The path to a class begins with its own snapshot or with that of a coarser class, the shorter of both. A snapshot
// that the subscriber has costs nothing.
func TestRefinedPath(t *testing.T) {
	ref := func(hash byte, bytes uint64) Ref { return Ref{Hash{hash}, bytes} }
	x := &Index{
		Snapshots:   []Snapshot{{5, ref(1, 10_000)}},
		Deltas:      []Delta{{5, 6, ref(2, 100)}},
		Refinements: []Refinement{{4, 5, ref(3, 6000), ref(4, 4100)}, {16, 5, ref(5, 3000), ref(6, 3100)}},
	}
	h := &Head{Version: 6, Fold: 1}
	coarse := func(fold, version uint64) local { return local{head: &Head{Fold: fold, Version: version}} }
	kept := coarse(16, 6)
	kept.base = baseSnapshot{Ref: ref(5, 3000), data: []byte{1}}
	other := coarse(16, 5)
	other.head.Stream.Nonce++
	for name, c := range map[string]struct {
		have local
		want []byte // hashes
	}{
		"nothing":                         {local{}, []byte{1, 2}},
		"the class of the refinement":     {coarse(4, 5), []byte{4, 2}},
		"the coarsest class":              {coarse(16, 5), []byte{6, 4, 2}},
		"another version":                 {coarse(16, 6), []byte{1, 2}},
		"another stream":                  {other, []byte{1, 2}},
		"the snapshot of another version": {kept, []byte{5, 6, 4, 2}},
		"a class without refinements":     {coarse(8, 5), []byte{1, 2}},
	} {
		p, _, _ := cheapest(c.have.starts(h, x, c.have.start(h)), x.Deltas, h.Version)
		var got []byte
		for _, o := range p.objects {
			got = append(got, o.Hash[0])
		}
		if !bytes.Equal(got, c.want) {
			t.Errorf("%s: the path is %d, want %d", name, got, c.want)
		}
	}
	for _, removed := range []byte{4, 6} {
		y := *x
		y.Refinements = slices.Clone(x.Refinements)
		y.remove(x.Refinements[removed/2-2].Ref)
		have := coarse(16, 5)
		p, _, _ := cheapest(have.starts(h, &y, nil), y.Deltas, h.Version)
		if len(p.objects) != 2 || p.objects[0].Hash[0] != 1 {
			t.Errorf("without refinement %d: %+v", removed, p)
		}
	}
	// A finer state of any class is folded.
	have := coarse(2, 6)
	if s := have.start(&Head{Version: 6, Fold: 8}); s == nil || len(s.path.objects) != 0 || s.path.fold != 4 {
		t.Errorf("%+v", s)
	}
	for _, h := range []*Head{{Version: 6, Fold: 3}, {Version: 6, Fold: 2}, {Version: 5, Fold: 8}, {Version: 7, Fold: 1}} {
		if s := have.start(h); s != nil {
			t.Errorf("version %d of class %d: %+v", h.Version, h.Fold, s)
		}
	}
}

func FuzzIndex(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		f.Add(encode(f, randomIndex(rng)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var x Index
		if err := x.UnmarshalBinary(b); err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("%v", err)
			}
			return
		}
		for i, d := range x.Deltas {
			if d.From == 0 || d.From >= d.To || i > 0 && d.To < x.Deltas[i-1].To {
				t.Errorf("delta %d: %+v", i, d)
			}
		}
		have := local{head: &Head{Fold: 16, Version: 7}, base: baseSnapshot{data: []byte{1}}}
		if len(x.Refinements) > 0 {
			have.base.Ref = x.Refinements[0].Snapshot
		}
		h := &Head{Fold: 1, Version: 9}
		if p, _, _ := cheapest(have.starts(h, &x, nil), x.Deltas, h.Version); len(p.objects) > maxPath {
			t.Errorf("a path of %d objects", len(p.objects))
		}
		if got := encode(t, &x); !bytes.Equal(got, b) {
			t.Errorf("two encodings: %x, %x", got, b)
		}
	})
}
