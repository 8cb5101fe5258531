package nixcache

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/nixbloom"
	"github.com/umbel-filters/umbel/plan"
)

// NixBloom returns the filter of the file that Nix would make of the paths, at a rate between 0 and 1. The
// filter of no paths is for one. The error wraps umbel.ErrGoal.
func (p Paths) NixBloom(rate float64) (*nixbloom.Filter, error) {
	s, err := nixbloom.NixShape(max(uint64(len(p)), 1), rate)
	if err != nil {
		return nil, err
	}
	f, err := nixbloom.NewShape(s)
	if err != nil {
		return nil, err
	}
	for _, h := range p {
		f.Add(h.Digest())
	}
	return f, nil
}

// DefaultMemory is the default of Design.Memory: 64 MiB. Publisher and clients take time in proportion to the cells
// for an update. Deltas of larger arrays are larger, too: they name each block of 64 KiB that changes
// (BenchmarkDelta).
const DefaultMemory = 64 << 20

// minKeys is the least number of paths that a summary is planned for.
const minKeys = 1000

// Design determines the filter of a publication. Its keys are the hashes of store paths as text, 32 characters, so
// that every subscriber can query them. It is of kind bloom, with the least k for which the cells fit into
// Memory, since the fewest cells per key give the smallest snapshots (Mitzenmacher 2002; docs/messages.md).
type Design struct {
	Rate float64 // false-positive rate, in (0, 1)
	// Keys is the number of paths that the filter is made for; if it is 0, a quarter more than there are at
	// the beginning, at least 1000. A cache that grows beyond it gets a larger filter, which subscribers fetch
	// as a snapshot.
	Keys   uint64
	Memory uint64 // bytes of cells at most; if it is 0, DefaultMemory
}

// shape returns the shape for n paths now. It returns an error wrapping umbel.ErrGoal if no filter fits.
func (d Design) shape(n uint64) (bloom.Shape, error) {
	keys := d.Keys
	if keys < n {
		keys = max(n+n/4, minKeys)
	}
	memory := d.Memory
	if memory == 0 {
		memory = DefaultMemory
	}
	for k := 1; k <= bloom.MaxK; k++ {
		m, err := plan.SizeForK(keys, k, d.Rate)
		if err != nil {
			if k == 1 { // too many cells for one per key
				continue
			}
			return bloom.Shape{}, fmt.Errorf("%w: %w", err, umbel.ErrGoal)
		}
		if m = (m + 63) / 64 * 64; m/8 <= memory {
			s := bloom.Shape{M: m, K: k, Group: 6}
			return s, s.Check()
		}
	}
	return bloom.Shape{}, fmt.Errorf("%d paths at a rate of %.3g need more than %d bytes; allow more memory or a higher rate: %w", keys, d.Rate, memory, umbel.ErrGoal)
}

// isOutgrown reports whether a filter for s has a rate above twice the planned one with n paths.
func (d Design) isOutgrown(s bloom.Shape, n uint64) bool {
	return plan.FPRate(s.M, s.K, n) > umbel.OverfullFactor*d.Rate
}

// Key returns the key of a path in the filters of publications.
func Key(h nixbloom.Hash) string { return h.String() }

// Marker is a key of every filter that this package publishes. A filter without it has other keys, for example
// whole store paths: every hash would be absent from it.
const Marker = "hashes of store paths"
