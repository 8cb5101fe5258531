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
		for n := range b {
			if err := back.UnmarshalBinary(b[:n]); !errors.Is(err, ErrCorrupt) {
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
		if way, _ := cheapest(nil, back.Deltas, true, 1, last); way != nil {
			t.Errorf("a way of %d objects", len(way))
		}
		if way, _ := cheapest(nil, back.Deltas, true, last-maxWay, last); len(way) != maxWay {
			t.Errorf("%d objects, want %d", len(way), maxWay)
		}
	}); n > 64<<20 {
		t.Errorf("%d bytes", n)
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
		if got := encode(t, &x); !bytes.Equal(got, b) {
			t.Errorf("two encodings: %x, %x", got, b)
		}
	})
}
