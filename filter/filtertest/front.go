package filtertest

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/fixture"
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
func keys(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f, g := as[keyed](t, make1(t, v, n)), make1(t, v, n)
		if f.Hasher() != f.State().Hasher {
			t.Fatalf("Hasher is %v, that of State %v", f.Hasher(), f.State().Hasher)
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
				t.Fatalf("n=%d: %s is %v, with the key's digest %v", n, what, got, want)
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
		many := as[keyed](t, make1(t, v, n))
		single := as[keyed](t, make1(t, v, n))
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
	f := make1(t, v, n)
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
	g := make1(t, v, n).(keyed)
	g.AddStrings(texts)
	wantState(t, f, g.State(), "after atomic additions by key")
}

// streams: WriteTo writes what MarshalBinary returns, ReadFrom reads it, and both count
// bytes. A damaged container leaves the filter unchanged.
func streams(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := make1(t, v, n)
		w := as[io.WriterTo](t, f)
		addAll(f, digests(1, int(n)))
		b, err := as[encoding.BinaryMarshaler](t, f).MarshalBinary()
		if err != nil {
			t.Fatalf("MarshalBinary: %v", err)
		}
		var out bytes.Buffer
		if m, err := w.WriteTo(&out); err != nil || m != int64(out.Len()) || !bytes.Equal(out.Bytes(), b) {
			t.Fatalf("WriteTo returns %d, %v and writes %d bytes; MarshalBinary returns %d", m, err, out.Len(), len(b))
		}
		for what, r := range map[string]io.Reader{"a file": bytes.NewReader(b), "a pipe": io.MultiReader(bytes.NewReader(b))} {
			g := make1(t, v, n+1)
			m, err := as[io.ReaderFrom](t, g).ReadFrom(r)
			if err != nil || m != int64(len(b)) {
				t.Fatalf("ReadFrom %s returns %d, %v, want %d", what, m, err, len(b))
			}
			wantState(t, g, f.State(), "after ReadFrom "+what)
		}
		g := make1(t, v, n+1)
		before := g.State().Clone()
		if _, err := as[io.ReaderFrom](t, g).ReadFrom(bytes.NewReader(b[:len(b)-1])); err == nil {
			t.Errorf("ReadFrom a container without its last byte: no error")
		}
		wantState(t, g, before, "after ReadFrom a damaged container")
	}
}

// copies: Clone returns an equal filter that shares no memory, and Equal compares all of
// the state.
func copies(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := make1(t, v, n)
		addAll(f, digests(1, int(n)))
		before := f.State().Clone()
		a, b := clone(t, f), clone(t, f)
		wantState(t, a, before, "of a Clone")
		if !equals(t, a, b) || !equals(t, a, a) {
			t.Fatalf("two clones are not Equal")
		}
		for _, d := range digests(2, 200) {
			a.Add(d)
		}
		wantState(t, f, before, "after a Clone changed")
		if equals(t, a, b) || equals(t, b, a) {
			t.Errorf("filters with different keys are Equal")
		}
		h := umbel.Hasher{Alg: umbel.SipHash, Seed: umbel.Seed{Lo: 1}}
		x := clone(t, mustNew(t, v, umbel.Goal{Keys: n, FPRate: 0.01, Hasher: h}, nil))
		h.Seed.Lo = 2
		y := clone(t, mustNew(t, v, umbel.Goal{Keys: n, FPRate: 0.01, Hasher: h}, nil))
		if equals(t, x, y) {
			t.Errorf("filters with different seeds are Equal")
		}
	}
}

// clone calls f.Clone, which returns the type of the filter.
func clone(t tb, f umbel.Filter) umbel.Filter {
	t.Helper()
	m := reflect.ValueOf(f).MethodByName("Clone")
	if !m.IsValid() {
		t.Skipf("%T has no Clone", f)
	}
	g, ok := m.Call(nil)[0].Interface().(umbel.Filter)
	if !ok {
		t.Fatalf("Clone of %T does not return a filter", f)
	}
	return g
}

// equals calls f.Equal(g).
func equals(t tb, f, g umbel.Filter) bool {
	t.Helper()
	m := reflect.ValueOf(f).MethodByName("Equal")
	if !m.IsValid() {
		t.Skipf("%T has no Equal", f)
	}
	return m.Call([]reflect.Value{reflect.ValueOf(g)})[0].Bool()
}

// secret is a seed that can be recognized in any form.
var secret = umbel.SeedFrom([16]byte([]byte("SECRTabcdefgXYZ!")))

// seedsAreSecret: neither a filter, nor its state, nor an error contains a seed.
func seedsAreSecret(t tb, v umbel.Kind) {
	h := umbel.Hasher{Alg: umbel.SipHash, Seed: secret}
	g := umbel.Goal{Keys: sizes[0], FPRate: 0.01, Hasher: h}
	f := mustNew(t, v, g, nil)
	addAll(f, digests(1, 10))
	var out strings.Builder
	show := func(v any) {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		b, _ := json.Marshal(v)
		out.Write(b)
	}
	show(f)
	show(f.Hasher())
	if v.Shape != nil {
		if s, _, err := v.Shape(g, nil); err == nil {
			show(s)
		}
	}
	s := f.State()
	s.Arrays = nil // cells are random enough
	show(s)
	for _, err := range secretErrors(t, v, g, f) {
		show(err)
	}
	if form := fixture.FindSeed(out.String(), secret); form != "" {
		t.Errorf("a seed is printed, as %s, in %.2000s", form, out.String())
	}
}

// secretErrors returns errors about filters with the goal g, of which f is one.
func secretErrors(t tb, v umbel.Kind, g umbel.Goal, f umbel.Filter) []error {
	var errs []error
	keep := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	others := []umbel.Hasher{{}, {Alg: umbel.SipHash}, {Alg: umbel.SipHash, Seed: umbel.Seed{Lo: 1}}, {Alg: umbel.MD5}, {Alg: umbel.MD5, Seed: secret}, {Alg: 77, Seed: secret}}
	for _, h := range others {
		s := f.State().Clone()
		s.Hasher = h
		if m, ok := f.(umbel.Merger); ok {
			keep(m.Merge(s))
		}
		_, err := v.Open(s) // parts keep their hashers
		keep(err)
		for i := range s.Parts {
			s := f.State().Clone()
			s.Parts[i].Hasher = h
			_, err := v.Open(s)
			keep(err)
		}
		goal := g
		goal.Hasher = h
		_, err = v.New(goal, nil)
		keep(err)
		goal.FPRate = 2
		_, err = v.New(goal, nil)
		keep(err)
	}
	s := f.State().Clone()
	s.Params = nil
	_, err := v.Open(s)
	keep(err)
	s.Kind = "another"
	_, err = v.Open(s)
	keep(err)
	if fold, ok := f.(umbel.Folder); ok {
		keep(fold.Fold(1_000_003))
		keep(fold.Unfold(1 << 63))
	}
	if m, ok := f.(encoding.BinaryMarshaler); ok {
		b, err := m.MarshalBinary()
		keep(err)
		if u, ok := f.(encoding.BinaryUnmarshaler); ok {
			for i := range b {
				damaged := bytes.Clone(b)
				damaged[i] ^= 0x55
				keep(u.UnmarshalBinary(damaged))
			}
		}
	}
	return errs
}
