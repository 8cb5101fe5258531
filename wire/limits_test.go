package wire_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/internal/race"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
)

// arrays returns a state of n empty arrays with the given number of 64 KiB blocks each.
func arrays(n int, blocks uint64) umbel.State {
	s := umbel.State{Kind: "test"}
	for range n {
		s.Arrays = append(s.Arrays, fixture.Must(cells.New(blocks<<19, 1)))
	}
	return s
}

// Without a limit of bytes, readers accept arrays that take no more memory than the
// container has bytes, and refuse those that a few bytes expand to.
func TestLimitsDefault(t *testing.T) {
	race.Skip(t, "uses much memory")
	const limit = 1 << 20 // instead of DefaultBytes
	for _, c := range []struct {
		name   string
		arrays int
		blocks uint64
	}{
		{"below the limit", 1, 15},
		{"at the limit", 1, 16},
		{"two at the limit", 2, 8},
		{"beyond", 1, 17},
		{"far beyond", 1, 300},
		{"beyond together", 3, 12},
		{"the second beyond", 2, 100},
	} {
		s := arrays(c.arrays, c.blocks)
		long := fixture.Must(wire.AppendWithin(nil, s, limit))
		short := fixture.Must(wire.Append(nil, s))
		for name, read := range map[string]func([]byte) (umbel.State, error){
			"Parse": func(b []byte) (umbel.State, error) { return wire.ParseWithin(b, limit) },
			"Read":  func(b []byte) (umbel.State, error) { return wire.ReadWithin(bytes.NewReader(b), limit) },
			"Read of a stream": func(b []byte) (umbel.State, error) {
				return wire.ReadWithin(io.MultiReader(bytes.NewReader(b)), limit)
			},
		} {
			if got, err := read(long); err != nil || !wiretest.Equal(got, s) {
				t.Errorf("%s: %s of %d bytes: %v", c.name, name, len(long), err)
			}
			var err error
			n := wiretest.Allocated(func() { _, err = read(short) })
			switch {
			case s.Bytes() <= limit && err != nil:
				t.Errorf("%s: %s of %d bytes: %v", c.name, name, len(short), err)
			case s.Bytes() > limit && !errors.Is(err, umbel.ErrLimit):
				t.Errorf("%s: %s of %d bytes: %v, want ErrLimit", c.name, name, len(short), err)
			case n > 4*limit:
				t.Errorf("%s: %s of %d bytes allocated %d", c.name, name, len(short), n)
			}
		}
	}
}

// An explicit limit holds, regardless of the length of the container.
func TestLimitsExplicit(t *testing.T) {
	s := arrays(1, 4)
	b := fixture.Must(wire.AppendWithin(nil, s, 1))
	if uint64(len(b)) < s.Bytes() {
		t.Fatalf("%d bytes for %d bytes of cells, want raw blocks", len(b), s.Bytes())
	}
	refused(t, "a byte too many", b, wire.Limits{Bytes: s.Bytes() - 1}, umbel.ErrLimit)
	if _, err := wire.Parse(b, wire.Limits{Bytes: s.Bytes()}); err != nil {
		t.Error(err)
	}
}
