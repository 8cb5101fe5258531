package redisbloom

import "github.com/umbel-filters/umbel"

// Hasher returns the hasher of the filter's keys.
func (f *Filter) Hasher() umbel.Hasher { return f.hasher }

// AddBytes adds a key and reports whether the filter changed.
func (f *Filter) AddBytes(key []byte) bool { return f.Add(f.hasher.HashBytes(key)) }

// AddString adds a key and reports whether the filter changed.
func (f *Filter) AddString(key string) bool { return f.Add(f.hasher.HashString(key)) }

// HasBytes reports whether key may have been added.
func (f *Filter) HasBytes(key []byte) bool { return f.Has(f.hasher.HashBytes(key)) }

// HasString reports whether key may have been added.
func (f *Filter) HasString(key string) bool { return f.Has(f.hasher.HashString(key)) }
