package counting

import "github.com/umbel-filters/umbel"

// Hasher returns the hasher of the filter's keys.
func (f *Filter) Hasher() umbel.Hasher { return f.counters.Shape().Hasher }

// AddBytes adds a key and reports whether a counter changed.
func (f *Filter) AddBytes(key []byte) bool { return f.Add(f.counters.Shape().Hasher.HashBytes(key)) }

// AddString adds a key and reports whether a counter changed.
func (f *Filter) AddString(key string) bool { return f.Add(f.counters.Shape().Hasher.HashString(key)) }

// HasBytes reports whether key may have been added.
func (f *Filter) HasBytes(key []byte) bool { return f.Has(f.counters.Shape().Hasher.HashBytes(key)) }

// HasString reports whether key may have been added.
func (f *Filter) HasString(key string) bool { return f.Has(f.counters.Shape().Hasher.HashString(key)) }

// RemoveBytes takes back one addition of a key: see Remove.
func (f *Filter) RemoveBytes(key []byte) bool {
	return f.Remove(f.counters.Shape().Hasher.HashBytes(key))
}

// RemoveString takes back one addition of a key: see Remove.
func (f *Filter) RemoveString(key string) bool {
	return f.Remove(f.counters.Shape().Hasher.HashString(key))
}

// CountBytes returns how often a key was added: see Count.
func (f *Filter) CountBytes(key []byte) uint64 {
	return f.Count(f.counters.Shape().Hasher.HashBytes(key))
}

// CountString returns how often a key was added: see Count.
func (f *Filter) CountString(key string) uint64 {
	return f.Count(f.counters.Shape().Hasher.HashString(key))
}
