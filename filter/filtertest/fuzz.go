package filtertest

import (
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
)

// Fuzz opens containers that were tampered with, their checksums mended: each is an
// error that wraps umbel.ErrCorrupt or umbel.ErrKind, or a filter that works. It
// begins with the containers of filters of v.
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
		mend(b)
		if s, err := wire.Parse(b, wire.Limits{Bytes: 1 << 16}); err == nil {
			survive(t, v, s, "a container tampered with")
		}
	})
}
