package nixcache

import "github.com/umbel-filters/umbel/filter/foreign/nixbloom"

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

// key returns the key of a path in the filters of publications.
func key(h nixbloom.Hash) string { return h.String() }

// Marker is a key of every filter that this package publishes. A filter without it has other keys, for example
// whole store paths: every hash would be absent from it.
const Marker = "hashes of store paths"
