package filters

import "github.com/umbel-filters/umbel"

// classOf returns the class that key determines in f, and false if it determines none: see umbel.Classifier.
func classOf(f any, key []byte) (class int, ok bool) {
	if c, is := f.(umbel.Classifier); is {
		return c.Class(key)
	}
	return 0, false
}

// addKey adds the key with digest d, with the class that it determines.
func addKey(f umbel.Filter, key []byte, d umbel.Digest) bool {
	if class, ok := classOf(f, key); ok {
		return f.(umbel.Classifier).AddClass(d, class)
	}
	return f.Add(d)
}

// hasKey queries the key with digest d, with the class that it determines.
func hasKey(f umbel.Filter, key []byte, d umbel.Digest) bool {
	if class, ok := classOf(f, key); ok {
		return f.(umbel.Classifier).HasClass(d, class)
	}
	return f.Has(d)
}

// removeKey removes the key with digest d, with the class that it determines and was therefore added with.
func removeKey(r umbel.Remover, key []byte, d umbel.Digest) bool {
	byClass, has := r.(interface {
		RemoveClass(d umbel.Digest, class int) bool
	})
	if class, ok := classOf(r, key); ok && has {
		return byClass.RemoveClass(d, class)
	}
	return r.Remove(d)
}

// countKey counts the key with digest d, with the class that it determines.
func countKey(c umbel.Counter, key []byte, d umbel.Digest) (n uint64, known bool) {
	byClass, has := c.(interface {
		CountClass(d umbel.Digest, class int) (uint64, bool)
	})
	if class, ok := classOf(c, key); ok && has {
		return byClass.CountClass(d, class)
	}
	return c.Count(d)
}

// locateKey returns the cells of the key with digest d, with the class that it determines.
func locateKey(l umbel.Locator, key []byte, d umbel.Digest) []uint64 {
	if class, ok := classOf(l, key); ok {
		return l.(umbel.Classifier).LocateClass(nil, d, class)
	}
	return l.Locate(nil, d)
}
