package filtertest

import (
	"bytes"
	"encoding"
	"io"
	"reflect"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// writeToReadFrom: WriteTo writes what MarshalBinary returns, ReadFrom reads it, and both count
// bytes. A damaged container leaves the filter unchanged.
func writeToReadFrom(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := newFilter(t, v, n)
		w := as[io.WriterTo](t, f)
		addAll(f, digests(1, int(n)))
		before := f.State().Clone()
		b, err := as[encoding.BinaryMarshaler](t, f).MarshalBinary()
		if err != nil {
			t.Fatalf("MarshalBinary: %v", err)
		}
		wantState(t, f, before, "after MarshalBinary")
		var out bytes.Buffer
		if m, err := w.WriteTo(&out); err != nil || m != int64(out.Len()) || !bytes.Equal(out.Bytes(), b) {
			t.Fatalf("WriteTo returns %d, %v and writes %d bytes; MarshalBinary returns %d", m, err, out.Len(), len(b))
		}
		for what, r := range map[string]io.Reader{"a file": bytes.NewReader(b), "a pipe": io.MultiReader(bytes.NewReader(b))} {
			g := newFilter(t, v, n+1)
			m, err := as[io.ReaderFrom](t, g).ReadFrom(r)
			if err != nil || m != int64(len(b)) {
				t.Fatalf("ReadFrom %s returns %d, %v, want %d", what, m, err, len(b))
			}
			wantState(t, g, written(t, v, f), "after ReadFrom "+what)
		}
		g := newFilter(t, v, n+1)
		before = g.State().Clone()
		if _, err := as[io.ReaderFrom](t, g).ReadFrom(bytes.NewReader(b[:len(b)-1])); err == nil {
			t.Errorf("ReadFrom a container without its last byte: no error")
		}
		wantState(t, g, before, "after ReadFrom a damaged container")
	}
}

// written returns the state that a container of f has: that of f, or of a sealed copy if f is a Sealer.
func written(t tb, v umbel.Kind, f umbel.Filter) umbel.State {
	t.Helper()
	g := copyOf(t, v, f)
	seal(t, g)
	return g.State()
}

// cloneAndEqual: Clone returns an equal filter that shares no memory, and Equal compares all of
// the state.
func cloneAndEqual(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := newFilter(t, v, n)
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
		h := umbel.Hasher{Alg: umbel.SipHash, Seed: fixture.Seed(1, 0)}
		x := clone(t, mustNew(t, v, umbel.Goal{Keys: n, FPRate: 0.01, Hasher: h}, nil))
		h.Seed = fixture.Seed(2, 0)
		y := clone(t, mustNew(t, v, umbel.Goal{Keys: n, FPRate: 0.01, Hasher: h}, nil))
		if equals(t, x, y) {
			t.Errorf("filters with different seeds are Equal")
		}
	}
}

// clone calls f.Clone, which returns the type of the filter.
func clone(t tb, f umbel.Filter) umbel.Filter {
	t.Helper()
	return cloneOf(t, f, "Clone")
}

// cloneOf calls a method of f that returns a copy.
func cloneOf(t tb, f umbel.Filter, method string) umbel.Filter {
	t.Helper()
	m := reflect.ValueOf(f).MethodByName(method)
	if !m.IsValid() {
		t.Skipf("%T has no %s", f, method)
	}
	g, ok := m.Call(nil)[0].Interface().(umbel.Filter)
	if !ok {
		t.Fatalf("%s of %T does not return a filter", method, f)
	}
	return g
}

// equals calls f.Equal(g).
func equals(t tb, f, g umbel.Filter) bool {
	t.Helper()
	m := reflect.ValueOf(f).MethodByName("Equal")
	if !m.IsValid() {
		return f.State().Equal(g.State())
	}
	return m.Call([]reflect.Value{reflect.ValueOf(g)})[0].Bool()
}
