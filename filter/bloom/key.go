package bloom

import "github.com/umbel-filters/umbel"

// Hasher returns the hasher of the filter's keys.
func (f *Filter) Hasher() umbel.Hasher { return f.bits.Shape().Hasher }

// AddBytes adds a key and reports whether a bit changed.
func (f *Filter) AddBytes(key []byte) bool { return f.Add(f.bits.Shape().Hasher.HashBytes(key)) }

// AddString adds a key and reports whether a bit changed.
func (f *Filter) AddString(key string) bool { return f.Add(f.bits.Shape().Hasher.HashString(key)) }

// HasBytes reports whether key may have been added.
func (f *Filter) HasBytes(key []byte) bool { return f.Has(f.bits.Shape().Hasher.HashBytes(key)) }

// HasString reports whether key may have been added.
func (f *Filter) HasString(key string) bool { return f.Has(f.bits.Shape().Hasher.HashString(key)) }
