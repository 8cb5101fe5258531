package weighted

import "github.com/umbel-filters/umbel"

// AddClass adds d as a key of a class and reports whether a bit changed. A class that
// there isn't sets as many cells as any. Ask for the key with the same class, or by
// Has: a class with more cells may deny it. Where there is a table of digests it
// tells the class, and AddClass is Add.
func (f *Filter) AddClass(d umbel.Digest, class int) bool {
	if !f.known(class) {
		return f.Add(d)
	}
	return f.of[class].Add(d)
}

// HasClass reports whether d may have been added as a key of that class, or by Add.
// For a class that there isn't it asks for the cells that all classes set. Where there
// is a table of digests it tells the class, and HasClass is Has. It may run alongside
// itself, Has and AddAtomic.
func (f *Filter) HasClass(d umbel.Digest, class int) bool {
	if !f.known(class) {
		return f.Has(d)
	}
	return f.of[class].Has(d)
}

// LocateClass appends to dst the positions that HasClass asks for.
func (f *Filter) LocateClass(dst []uint64, d umbel.Digest, class int) []uint64 {
	if !f.known(class) {
		return f.Locate(dst, d)
	}
	return f.of[class].Locate(dst, d)
}

// known reports whether a class that a caller names is one, and counts.
func (f *Filter) known(class int) bool {
	return class >= 0 && class < len(f.of) && f.hot.empty()
}

// Class returns the class of a key where its beginning tells, and false otherwise:
// see [umbel.Classifier].
func (f *Filter) Class(key []byte) (class int, ok bool) {
	if f.prefixes.empty() {
		return 0, false
	}
	return f.prefixes.class(key), true
}
