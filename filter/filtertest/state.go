package filtertest

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
)

// openBehavesTheSame: a filter opened from a state behaves as the filter that the state is from.
func openBehavesTheSame(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := newFilter(t, v, n)
		addAll(f, digests(1, int(n)))
		g, was := copyOf(t, v, f), f.State().Clone()
		wantState(t, g, was, "opened")
		addAll(f, digests(3, int(n)))
		wantState(t, g, was, "opened from a clone, after additions to the other filter")
		g = copyOf(t, v, f)
		if a, b := f.Stats(), g.Stats(); a != b {
			t.Errorf("stats of the opened filter are %+v, want %+v", b, a)
		}
		for _, d := range slices.Concat(extreme, digests(1, 100), digests(2, 2000)) {
			if a, b := f.Has(d), g.Has(d); a != b {
				t.Fatalf("Has(%v) of the opened filter is %v, want %v", d, b, a)
			}
			if a, b := f.Add(d), g.Add(d); a != b {
				t.Fatalf("Add(%v) of the opened filter is %v, want %v", d, b, a)
			}
		}
		wantState(t, g, f.State(), "opened, after additions")
	}
}

// containerRoundTrip: a state that is encoded as a container and parsed again is unchanged.
func containerRoundTrip(t tb, v umbel.Kind) {
	for _, n := range sizes {
		f := newFilter(t, v, n)
		for _, ds := range [][]umbel.Digest{nil, digests(1, 1), digests(2, int(n))} {
			addAll(f, ds)
			want := f.State()
			b, err := wire.Append(nil, want)
			if err != nil {
				t.Fatalf("wire.Append: %v", err)
			}
			got, err := wire.Parse(b, wire.Limits{Bytes: want.Bytes()})
			if err != nil {
				t.Fatalf("wire.Parse: %v", err)
			}
			if !equal(got, want) {
				t.Fatalf("from a container: %s", difference(got, want))
			}
			g, err := v.Open(got)
			if err != nil {
				t.Fatalf("Open of a state from a container: %v", err)
			}
			wantAll(t, g, ds, "from a container")
			if want.Bytes() > 0 {
				_, err = wire.Parse(b, wire.Limits{Bytes: want.Bytes() - 1})
				wantError(t, err, "wire.Parse with too low a limit", umbel.ErrLimit)
			}
		}
	}
}

// damagedContainers: a container in which a bit is flipped, or from which bytes are missing, is
// refused. If the checksum is corrected after the flip, what opens is a working filter.
func damagedContainers(t tb, v umbel.Kind) {
	for _, f := range filled(t, v, 8, digests(1, 8)) {
		damaged(t, v, f)
	}
}

func damaged(t tb, v umbel.Kind, f umbel.Filter) {
	t.Helper()
	good, err := wire.Append(nil, f.State())
	if err != nil {
		t.Fatalf("wire.Append: %v", err)
	}
	refused := func(b []byte, what string, at int) {
		t.Helper()
		var err error
		if p := panicked(func() { _, err = open(v, b) }); p != nil {
			t.Fatalf("%s %d: panic: %v", what, at, p)
		}
		wantError(t, err, what, umbel.ErrCorrupt, umbel.ErrLimit)
	}
	for n := range good {
		refused(good[:n:n], "a container truncated to length", n)
	}
	refused(append(slices.Clone(good), 0), "a container followed by a byte, of length", len(good))
	for i := range 8 * len(good) {
		bad := slices.Clone(good)
		bad[i/8] ^= 1 << (i % 8)
		refused(bad, "a container with flipped bit", i)

		fixChecksum(bad)
		s, err := wire.Parse(bad, wire.Limits{Bytes: 1 << 20})
		if err == nil {
			survive(t, v, s, "a container with a flipped bit and the correct checksum")
		}
	}
}

// fixChecksum replaces the checksum at the end of a container by the correct one.
func fixChecksum(b []byte) {
	body, sum := b[:len(b)-4], b[len(b)-4:]
	binary.LittleEndian.PutUint32(sum, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
}

func open(v umbel.Kind, b []byte) (umbel.Filter, error) {
	s, err := wire.Parse(b, wire.Limits{Bytes: 1 << 20})
	if err != nil {
		return nil, err
	}
	return v.Open(s)
}

// Fuzz opens fuzzed containers whose checksums were corrected. Each is refused with an error
// wrapping umbel.ErrCorrupt or umbel.ErrKind, or opens to a working filter. The seed corpus
// contains containers of filters of v.
func Fuzz(f *testing.F, v umbel.Kind) {
	for _, n := range []uint64{1, 20, 2000} {
		filter, err := v.New(umbel.Goal{Keys: n, FPRate: 0.1}, nil)
		if err != nil {
			f.Fatal(err)
		}
		addAll(filter, digests(1, 10))
		add := func() {
			b, err := wire.Append(nil, filter.State())
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
		add()
		if s, ok := filter.(umbel.Sealer); ok {
			if err := s.Seal(); err != nil {
				f.Fatal(err)
			}
			add()
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 4 {
			return
		}
		b = slices.Clone(b)
		fixChecksum(b)
		if s, err := wire.Parse(b, wire.Limits{Bytes: 1 << 16}); err == nil {
			survive(t, v, s, "a fuzzed container")
		}
	})
}
