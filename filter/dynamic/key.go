package dynamic

import "github.com/umbel-filters/umbel"

// Hasher returns the hasher of the filter's keys.
func (f *Filter) Hasher() umbel.Hasher { return f.shape.Layer.Hasher }

// AddBytes adds a key and reports whether it is new.
func (f *Filter) AddBytes(key []byte) bool { return f.Add(f.Hasher().HashBytes(key)) }

// AddString adds a key and reports whether it is new.
func (f *Filter) AddString(key string) bool { return f.Add(f.Hasher().HashString(key)) }

// HasBytes reports whether key may have been added.
func (f *Filter) HasBytes(key []byte) bool { return f.Has(f.Hasher().HashBytes(key)) }

// HasString reports whether key may have been added.
func (f *Filter) HasString(key string) bool { return f.Has(f.Hasher().HashString(key)) }

// Hasher returns the hasher of the filter's keys.
func (f *Counting) Hasher() umbel.Hasher { return f.shape.Layer.Hasher }

// AddBytes adds a key once more and reports whether a counter changed.
func (f *Counting) AddBytes(key []byte) bool { return f.Add(f.Hasher().HashBytes(key)) }

// AddString adds a key once more and reports whether a counter changed.
func (f *Counting) AddString(key string) bool { return f.Add(f.Hasher().HashString(key)) }

// HasBytes reports whether key may have been added, and not removed since.
func (f *Counting) HasBytes(key []byte) bool { return f.Has(f.Hasher().HashBytes(key)) }

// HasString reports whether key may have been added, and not removed since.
func (f *Counting) HasString(key string) bool { return f.Has(f.Hasher().HashString(key)) }

// RemoveBytes takes back one addition of a key: see Remove.
func (f *Counting) RemoveBytes(key []byte) bool { return f.Remove(f.Hasher().HashBytes(key)) }

// RemoveString takes back one addition of a key: see Remove.
func (f *Counting) RemoveString(key string) bool { return f.Remove(f.Hasher().HashString(key)) }
