package filtertest

import (
	"encoding/binary"
	"fmt"

	"github.com/umbel-filters/umbel"
)

// keyed is a filter with methods for keys.
type keyed interface {
	umbel.Filter
	AddString(string) bool
	AddBytes([]byte) bool
	HasString(string) bool
	HasBytes([]byte) bool
}

// keyMethods: methods and functions for keys, one or many, do what Add and Has do with the keys' digests.
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
			one("AddKey", umbel.AddKey(f, x), g.Add(h.HashUint64(x)))
			one("AddString", f.AddString(texts[i]), g.Add(h.HashString(texts[i])))
			one("AddBytes", f.AddBytes(slices[i]), g.Add(h.HashBytes(slices[i])))
			one("HasKey", umbel.HasKey(f, ^x), g.Has(h.HashUint64(^x)))
			one("HasString", f.HasString(texts[i][1:]), g.Has(h.HashString(texts[i][1:])))
			one("HasBytes", f.HasBytes(slices[i][1:]), g.Has(h.HashBytes(slices[i][1:])))
		}
		wantState(t, f, g.State(), "after additions by key")
		many, single := newFilter(t, v, n), as[keyed](t, newFilter(t, v, n))
		umbel.AddKeys(many, texts)
		umbel.AddKeys(many, slices)
		umbel.AddKeys(many, ints)
		for _, key := range texts {
			single.AddString(key)
		}
		for _, key := range slices {
			single.AddBytes(key)
		}
		for _, key := range ints {
			umbel.AddKey(single, key)
		}
		wantState(t, many, single.State(), "after additions of batches of keys")
		hasMany(t, many, texts)
		hasMany(t, many, slices)
		hasMany(t, many, ints)
		atomicKeys(t, v, n, texts)
	}
}

// hasMany: HasKeys answers as HasKey does, for half of the keys, and allocates nothing.
func hasMany[K umbel.Key](t tb, f umbel.Filter, keys []K) {
	t.Helper()
	keys = keys[len(keys)/2:]
	for _, few := range [][]K{keys[:min(3, len(keys))], keys} {
		dst := make([]bool, len(few)+1)
		for i := range dst {
			dst[i] = i%2 == 0
		}
		last := dst[len(few)]
		umbel.HasKeys(f, dst, few)
		for i, key := range few {
			if want := umbel.HasKey(f, key); dst[i] != want {
				t.Fatalf("HasKeys sets element %d of %d to %v, want %v", i, len(few), dst[i], want)
			}
		}
		if dst[len(few)] != last {
			t.Errorf("HasKeys writes beyond the last key")
		}
		wantNoAllocation(t, "HasKeys", func() { umbel.HasKeys(f, dst, few) })
	}
	if len(keys) > 1 && panicked(func() { umbel.HasKeys(f, make([]bool, 1), keys) }) == nil {
		t.Errorf("HasKeys into a slice that is too short does not panic")
	}
}

// atomicKeys: AddKeyAtomic and AddKeysAtomic add the keys.
func atomicKeys(t tb, v umbel.Kind, n uint64, texts []string) {
	t.Helper()
	f := newFilter(t, v, n)
	a, ok := f.(interface {
		umbel.Filter
		umbel.AtomicBatchAdder
		umbel.AtomicAdder
	})
	if !ok {
		return
	}
	half := len(texts) / 2
	one := newFilter(t, v, n)
	for _, key := range texts[:half] {
		if got, want := umbel.AddKeyAtomic(a, key), umbel.AddKey(one, key); got != want {
			t.Fatalf("n=%d: AddKeyAtomic is %v, want %v as AddKey", n, got, want)
		}
	}
	wantNoAllocation(t, "AddKeyAtomic", func() { umbel.AddKeyAtomic(a, texts[0]) })
	umbel.AddKeysAtomic(a, texts[half:])
	g := newFilter(t, v, n)
	umbel.AddKeys(g, texts)
	wantState(t, f, g.State(), "after atomic additions by key")
}
