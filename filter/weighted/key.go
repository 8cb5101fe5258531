package weighted

import (
	"unsafe"

	"github.com/umbel-filters/umbel"
)

// Hasher returns the hasher of the filter's keys.
func (f *Filter) Hasher() umbel.Hasher { return f.array.Shape.Hasher }

// AddBytes adds a key, of the class that its beginning tells where there are
// prefixes, and reports whether a bit changed.
func (f *Filter) AddBytes(key []byte) bool {
	d := f.array.Shape.Hasher.HashBytes(key)
	if class, ok := f.Class(key); ok {
		return f.AddClass(d, class)
	}
	return f.Add(d)
}

// AddString is AddBytes.
func (f *Filter) AddString(key string) bool { return f.AddBytes(bytes(key)) }

// HasBytes reports whether key may have been added, as a key of the class that its
// beginning tells where there are prefixes.
func (f *Filter) HasBytes(key []byte) bool {
	d := f.array.Shape.Hasher.HashBytes(key)
	if class, ok := f.Class(key); ok {
		return f.HasClass(d, class)
	}
	return f.Has(d)
}

// HasString is HasBytes.
func (f *Filter) HasString(key string) bool { return f.HasBytes(bytes(key)) }

// bytes returns key without a copy; nobody writes to it.
func bytes(key string) []byte { return unsafe.Slice(unsafe.StringData(key), len(key)) }
