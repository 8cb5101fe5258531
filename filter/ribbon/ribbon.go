package ribbon

import "github.com/umbel-filters/umbel"

// Filter is a ribbon filter. Keys are added and then solved by Seal; those that come
// later are kept as they are. Only Has, Stats and State may run alongside each other.
//
// The zero Filter has no keys and takes none; UnmarshalBinary makes it one that does.
type Filter struct {
	shape  Shape
	solved solution
	keys   uint64 // that were solved
	list   list   // those that weren't
}

// Add adds a digest and reports whether the filter changed: see [umbel.Filter]. It takes
// some 40 bytes for each that it doesn't have yet, until Seal.
func (f *Filter) Add(d umbel.Digest) bool {
	if f.shape.Steps == 0 {
		panic("umbel: add to a zero filter: make it with New")
	}
	return !f.solved.has(d) && f.list.add(d)
}

// Has reports whether d may have been added: see [umbel.Filter].
func (f *Filter) Has(d umbel.Digest) bool { return f.solved.has(d) || f.list.has(d) }

// Clear forgets all keys.
func (f *Filter) Clear() { *f = Filter{shape: f.shape} }
