package weighted

import (
	"fmt"
	"unsafe"
)

// AddBytes adds a key, with the class of its prefix if there are prefixes: it is Add, or
// AddClass, of the key's digest.
func (f *Filter) AddBytes(key []byte) bool {
	d := f.Hasher().HashBytes(key)
	if class, ok := f.Class(key); ok {
		return f.AddClass(d, class)
	}
	return f.Add(d)
}

// AddString is AddBytes of a string.
func (f *Filter) AddString(key string) bool { return f.AddBytes(bytes(key)) }

// HasBytes is Has of the key's digest, or HasClass with the class of its prefix if there
// are prefixes.
func (f *Filter) HasBytes(key []byte) bool {
	d := f.Hasher().HashBytes(key)
	if class, ok := f.Class(key); ok {
		return f.HasClass(d, class)
	}
	return f.Has(d)
}

// HasString is HasBytes of a string.
func (f *Filter) HasString(key string) bool { return f.HasBytes(bytes(key)) }

// description describes the filter by its type, its classes and the lengths of its tables. It
// prints neither digests nor prefixes.
func (f *Filter) description() string {
	return fmt.Sprintf("weighted.Filter{M:%d Classes:%+v Group:%d Hasher:%v Hot:%d Prefixes:%d}",
		f.array.Shape.M, f.classes, f.array.Shape.Group, f.Hasher(), len(f.hot.words), len(f.prefixes.list))
}

// bytes returns key without a copy; nobody writes to it.
func bytes(key string) []byte { return unsafe.Slice(unsafe.StringData(key), len(key)) }
