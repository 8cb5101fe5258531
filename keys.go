package umbel

import "sync"

// Key is the type of a key: text, bytes, or an integer, which stands for its 8 bytes, little-endian. A key is its bytes,
// so that []byte("a") and "a" are the same key.
type Key interface{ string | []byte | uint64 }

// AddKey adds key to a filter of any kind and reports whether the filter changed: it is Add of key's digest or, in a
// [Classifier], AddClass with key's class. It panics if the filter's hash is [Caller]. It allocates nothing.
func AddKey[K Key](f Filter, key K) bool {
	d := hashKey(f.Hasher(), key)
	if c, ok := f.(Classifier); ok {
		if class, ok := classOf(c, key); ok {
			return c.AddClass(d, class)
		}
	}
	return f.Add(d)
}

// AddKeyAtomic is AddKey for filters that are an [AtomicAdder]. It is safe to call concurrently with itself, AddAtomic and
// HasKey. A [Classifier] without AddClassAtomic adds the key without its class. It allocates nothing.
func AddKeyAtomic[K Key](f interface {
	Filter
	AtomicAdder
}, key K) bool {
	d := hashKey(f.Hasher(), key)
	if c, ok := f.(atomicClassifier); ok {
		return addClassAtomic(c, d, key)
	}
	return f.AddAtomic(d)
}

// HasKey reports whether key may have been added to a filter of any kind: it is Has of key's digest or, in a
// [Classifier], HasClass with key's class. It panics if the filter's hash is [Caller]. It allocates nothing.
func HasKey[K Key](f Filter, key K) bool {
	d := hashKey(f.Hasher(), key)
	if c, ok := f.(Classifier); ok {
		if class, ok := classOf(c, key); ok {
			return c.HasClass(d, class)
		}
	}
	return f.Has(d)
}

// AddKeys adds keys in order to a filter of any kind: see [AddKey]. If the filter is a [BatchAdder] and larger than the
// caches, that is faster than adding them one by one. It allocates nothing.
func AddKeys[K Key](f Filter, keys []K) {
	b, ok := f.(BatchAdder)
	if !ok || !inBatches(f, len(keys)) {
		for _, key := range keys {
			AddKey(f, key)
		}
		return
	}
	ds := batches.Get().(*batch)
	for h := f.Hasher(); len(keys) > 0; {
		n := hashKeys(h, ds, keys)
		b.AddAll(nil, ds[:n])
		keys = keys[n:]
	}
	batches.Put(ds)
}

// HasKeys sets dst[i] to HasKey(f, keys[i]). If the filter is a [BatchQuerier] and larger than the caches, that is faster
// than querying them one by one. It panics if dst is shorter than keys. It allocates nothing.
func HasKeys[K Key](f Filter, dst []bool, keys []K) {
	dst = dst[:len(keys):len(dst)]
	b, ok := f.(BatchQuerier)
	if !ok || !inBatches(f, len(keys)) {
		for i, key := range keys {
			dst[i] = HasKey(f, key)
		}
		return
	}
	ds := batches.Get().(*batch)
	for h := f.Hasher(); len(keys) > 0; {
		n := hashKeys(h, ds, keys)
		b.HasAll(dst[:n], ds[:n])
		dst, keys = dst[n:], keys[n:]
	}
	batches.Put(ds)
}

// AddKeysAtomic is AddKeys for filters that are an [AtomicBatchAdder]. It is safe to call concurrently with itself, AddAtomic
// and HasKey. A [Classifier] without AddClassAtomic adds all keys without their class. It allocates nothing.
func AddKeysAtomic[K Key](f interface {
	Filter
	AtomicBatchAdder
}, keys []K) {
	h := f.Hasher()
	if c, ok := f.(atomicClassifier); ok {
		for _, key := range keys {
			addClassAtomic(c, hashKey(h, key), key)
		}
		return
	}
	ds := batches.Get().(*batch)
	for len(keys) > 0 {
		n := hashKeys(h, ds, keys)
		f.AddAllAtomic(ds[:n])
		keys = keys[n:]
	}
	batches.Put(ds)
}

// atomicClassifier is a [Classifier] with concurrent additions.
type atomicClassifier interface {
	Classifier
	AtomicAdder
	AddClassAtomic(d Digest, class int) bool
}

// addClassAtomic adds d, the digest of key, with key's class.
func addClassAtomic[K Key](c atomicClassifier, d Digest, key K) bool {
	if class, ok := classOf(c, key); ok {
		return c.AddClassAtomic(d, class)
	}
	return c.AddAtomic(d)
}

// inBatches reports whether n keys of f are hashed before they are added or queried together.
func inBatches(f Filter, n int) bool {
	const few = 8 // from here on a batch is worth its preparation
	_, byClass := f.(Classifier)
	return n >= few && !byClass
}

// batch is the digests of keys that are processed together. They fit into the first-level cache.
type batch [256]Digest

// batches are reused: arguments of an interface's method are on the heap.
var batches = sync.Pool{New: func() any { return new(batch) }}

// hashKey returns the digest of key.
func hashKey[K Key](h Hasher, key K) (d Digest) {
	switch key := any(key).(type) {
	case string:
		d = h.HashString(key)
	case []byte:
		d = h.HashBytes(key)
	case uint64:
		d = h.HashUint64(key)
	}
	return d
}

// hashKeys sets the first elements of ds to the digests of the first keys, and returns their number.
func hashKeys[K Key](h Hasher, ds *batch, keys []K) int {
	n := min(len(ds), len(keys))
	switch keys := any(keys[:n]).(type) {
	case []string:
		for i, key := range keys {
			ds[i] = h.HashString(key)
		}
	case [][]byte:
		for i, key := range keys {
			ds[i] = h.HashBytes(key)
		}
	case []uint64:
		for i, key := range keys {
			ds[i] = h.HashUint64(key)
		}
	}
	return n
}

// classOf returns the class of key. It passes a copy, so that a key may be on the stack of the caller.
func classOf[K Key](c Classifier, key K) (class int, ok bool) {
	b := keyCopies.Get().(*[]byte)
	*b = (*b)[:0]
	switch key := any(key).(type) {
	case string:
		*b = append(*b, key...)
	case []byte:
		*b = append(*b, key...)
	case uint64:
		*b = append(*b, make([]byte, 8)...)
		putLE64(*b, key)
	}
	class, ok = c.Class(*b)
	keyCopies.Put(b)
	return class, ok
}

var keyCopies = sync.Pool{New: func() any { return new([]byte) }}
