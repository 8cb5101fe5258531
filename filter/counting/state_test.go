package counting_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/counting"
)

// Open refuses states that no counting filter has and names the wrong value.
func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(*umbel.State)
		want   error
		says   string
	}{
		{"kind", func(s *umbel.State) { s.Kind = "bloom" }, umbel.ErrKind, "bloom"},
		{"bits", func(s *umbel.State) { s.Arrays[0] = array(t, 640, 1) }, umbel.ErrCorrupt, "1 bits"},
		{"no width", func(s *umbel.State) { s.Arrays[0] = array(t, 640, 1); s.Arrays[0].Width = 0 }, umbel.ErrCorrupt, "width 0"},
		{"2 bits", func(s *umbel.State) { s.Arrays[0] = array(t, 640, 2) }, umbel.ErrCorrupt, "2 bits"},
		{"32 bits", func(s *umbel.State) { s.Arrays[0] = array(t, 640, 32) }, umbel.ErrCorrupt, "32 bits"},
		{"no cells", func(s *umbel.State) { s.Arrays[0] = array(t, 0, 4) }, umbel.ErrCorrupt, "0 cells"},
		{"no array", func(s *umbel.State) { s.Arrays = nil }, umbel.ErrCorrupt, "0 arrays"},
		{"k = 0", func(s *umbel.State) { s.Params[0].Value = umbel.Uint(0) }, umbel.ErrCorrupt, "k is 0"},
		{"k too large", func(s *umbel.State) { s.Params[0].Value = umbel.Uint(1 << 63) }, umbel.ErrCorrupt, "257"},
		{"group", func(s *umbel.State) { s.Params[1].Value = umbel.Uint(5) }, umbel.ErrCorrupt, "2^5"},
		{"group and size", func(s *umbel.State) { s.Arrays[0] = array(t, 650, 4) }, umbel.ErrCorrupt, "650"},
		{"copied", func(s *umbel.State) { s.Params[2].Value = umbel.Uint(2) }, umbel.ErrCorrupt, "copied is 2"},
		{"a missing parameter", func(s *umbel.State) { s.Params = s.Params[:2] }, umbel.ErrCorrupt, "2 parameters"},
	} {
		s := mustNew(t, counting.Shape{M: 640, K: 5, Group: 6}).State()
		c.change(&s)
		f, err := counting.Open(s)
		if f != nil || !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want an error that wraps %q and says %q", c.what, err, c.want, c.says)
		}
	}
}

func array(t *testing.T, n uint64, width uint) cells.Array {
	t.Helper()
	a, err := cells.New(n, width)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A given width is rounded up to that of the counters, and the plan has the memory for it.
func TestWidths(t *testing.T) {
	for given, want := range map[uint64]uint{0: 4, 4: 4, 5: 8, 8: 8, 9: 16, 16: 16} {
		ps := umbel.Params{{Name: "width", Value: umbel.Uint(given)}}
		g := umbel.Goal{Keys: 1000, FPRate: 0.01}
		f, err := counting.Kind.New(g, ps)
		if err != nil {
			t.Fatal(err)
		}
		fc, err := counting.Kind.Plan(g, ps)
		if err != nil {
			t.Fatal(err)
		}
		s := f.(*counting.Filter).Shape()
		if s.Width != want || fc.Bytes != s.M*uint64(want)/8 {
			t.Errorf("width %d: counters of %d bits, want %d, in %d bytes", given, s.Width, want, fc.Bytes)
		}
		if fc, err := counting.Kind.Plan(umbel.Goal{Keys: 1000, Bytes: 10_000}, ps); err != nil || fc.Bytes > 10_000 || fc.Bytes < 9900 {
			t.Errorf("width %d: of 10000 bytes %d are planned: %v", given, fc.Bytes, err)
		}
	}
}
