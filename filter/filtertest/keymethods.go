package filtertest

import (
	"encoding/binary"
	"fmt"

	"github.com/umbel-filters/umbel"
)

// keyed is a filter with methods for keys of three types.
type keyed interface {
	umbel.Filter
	AddString(string) bool
	AddBytes([]byte) bool
	AddUint64(uint64) bool
	HasString(string) bool
	HasBytes([]byte) bool
	HasUint64(uint64) bool
	AddStrings([]string)
	AddByteSlices([][]byte)
	AddUint64s([]uint64)
	HasStrings([]bool, []string)
	HasByteSlices([]bool, [][]byte)
	HasUint64s([]bool, []uint64)
}

// keys: methods for keys, one or many, do what Add and Has do with the keys' digests.
func keyMethods(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f, g := as[keyed](t, newFilter(t, v, n)), newFilter(t, v, n)
		if f.Hasher() != f.State().Hasher {
			t.Fatalf("Hasher is %v, but that of State is %v", f.Hasher(), f.State().Hasher)
		}
		h := f.Hasher()
		var ints []uint64
		var texts []string
		var slices [][]byte
		for i := range n / 6 {
			ints = append(ints, i*i)
			texts = append(texts, fmt.Sprint("key ", i))
			slices = append(slices, binary.BigEndian.AppendUint32(nil, uint32(i)))
		}
		one := func(what string, got, want bool) {
			if got != want {
				t.Fatalf("n=%d: %s is %v, want %v as for the key's digest", n, what, got, want)
			}
		}
		for i, x := range ints {
			one("AddUint64", f.AddUint64(x), g.Add(h.HashUint64(x)))
			one("AddString", f.AddString(texts[i]), g.Add(h.HashString(texts[i])))
			one("AddBytes", f.AddBytes(slices[i]), g.Add(h.HashBytes(slices[i])))
			one("HasUint64", f.HasUint64(^x), g.Has(h.HashUint64(^x)))
			one("HasString", f.HasString(texts[i][1:]), g.Has(h.HashString(texts[i][1:])))
			one("HasBytes", f.HasBytes(slices[i][1:]), g.Has(h.HashBytes(slices[i][1:])))
		}
		wantState(t, f, g.State(), "after additions by key")
		many := as[keyed](t, newFilter(t, v, n))
		single := as[keyed](t, newFilter(t, v, n))
		many.AddStrings(texts)
		many.AddByteSlices(slices)
		many.AddUint64s(ints)
		for _, key := range texts {
			single.AddString(key)
		}
		for _, key := range slices {
			single.AddBytes(key)
		}
		for _, key := range ints {
			single.AddUint64(key)
		}
		wantState(t, many, single.State(), "after additions of batches of keys")
		hasMany(t, many, texts, slices, ints)
		atomicKeys(t, v, n, many, texts)
	}
}

func hasMany(t tb, f keyed, texts []string, slices [][]byte, ints []uint64) {
	t.Helper()
	for i := range ints { // half of the keys are absent
		texts, slices, ints = append(texts, "absent "+texts[i]), append(slices, append(slices[i], 1)), append(ints, ^ints[i])
	}
	dst := make([]bool, len(ints)+1)
	for _, b := range []struct {
		what string
		many func()
		one  func(i int) bool
	}{
		{"HasStrings", func() { f.HasStrings(dst, texts) }, func(i int) bool { return f.HasString(texts[i]) }},
		{"HasByteSlices", func() { f.HasByteSlices(dst, slices) }, func(i int) bool { return f.HasBytes(slices[i]) }},
		{"HasUint64s", func() { f.HasUint64s(dst, ints) }, func(i int) bool { return f.HasUint64(ints[i]) }},
	} {
		for i := range dst {
			dst[i] = i%2 == 0
		}
		last := dst[len(ints)]
		b.many()
		for i := range ints {
			if want := b.one(i); dst[i] != want {
				t.Fatalf("%s sets element %d of %d to %v, want %v", b.what, i, len(ints), dst[i], want)
			}
		}
		if dst[len(ints)] != last {
			t.Errorf("%s writes beyond the last key", b.what)
		}
	}
	if panicked(func() { f.HasStrings(dst[:1], texts[:2]) }) == nil {
		t.Errorf("HasStrings into a slice that is too short does not panic")
	}
	wantNoAllocation(t, "HasStrings", func() { f.HasStrings(dst, texts) })
	wantNoAllocation(t, "HasUint64s", func() { f.HasUint64s(dst, ints) })
}

// atomicKeys checks AddStringAtomic and AddStringsAtomic against a filter with the keys.
func atomicKeys(t tb, v umbel.Kind, n uint64, want keyed, texts []string) {
	t.Helper()
	f := newFilter(t, v, n)
	a, ok := f.(interface {
		umbel.Filter
		AddStringAtomic(string) bool
		AddStringsAtomic([]string)
	})
	if !ok {
		return
	}
	half := len(texts) / 2
	for _, key := range texts[:half] {
		a.AddStringAtomic(key)
	}
	a.AddStringsAtomic(texts[half:])
	g := newFilter(t, v, n).(keyed)
	g.AddStrings(texts)
	wantState(t, f, g.State(), "after atomic additions by key")
}
