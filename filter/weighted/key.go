package weighted

import (
	"encoding/binary"
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

// AddUint64 is AddBytes of the 8 bytes of key, little-endian.
func (f *Filter) AddUint64(key uint64) bool {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	return f.AddBytes(b[:])
}

// AddBytesAtomic is AddBytes, and is safe to call concurrently with itself and with Has.
func (f *Filter) AddBytesAtomic(key []byte) bool {
	d := f.Hasher().HashBytes(key)
	if class, ok := f.Class(key); ok {
		return f.probes.of[class].AddAtomic(d)
	}
	return f.AddAtomic(d)
}

// AddStringAtomic is AddBytesAtomic of a string.
func (f *Filter) AddStringAtomic(key string) bool { return f.AddBytesAtomic(bytes(key)) }

// AddUint64Atomic is AddBytesAtomic of the 8 bytes of key, little-endian.
func (f *Filter) AddUint64Atomic(key uint64) bool {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	return f.AddBytesAtomic(b[:])
}

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

// HasUint64 is HasBytes of the 8 bytes of key, little-endian.
func (f *Filter) HasUint64(key uint64) bool {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	return f.HasBytes(b[:])
}

// String describes the filter by its type, its classes and the lengths of its tables. It
// prints neither digests nor prefixes.
func (f *Filter) String() string {
	return fmt.Sprintf("weighted.Filter{M:%d Classes:%+v Group:%d Hasher:%v Hot:%d Prefixes:%d}",
		f.array.Shape.M, f.classes, f.array.Shape.Group, f.Hasher(), len(f.hot.words), len(f.prefixes.list))
}

// bytes returns key without a copy; nobody writes to it.
func bytes(key string) []byte { return unsafe.Slice(unsafe.StringData(key), len(key)) }
