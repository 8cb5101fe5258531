package engine

import "hash/maphash"

// nameIndex finds filters by their names. It contains hashes of names instead of names, which the
// filters have: for 100,000 filters this takes 22 bytes per filter instead of 33.
type nameIndex struct {
	hash  func(name []byte) uint64
	first map[uint64]*Filter // by hash
	more  map[string]*Filter // those whose hash belongs to another filter in first
}

func newNameIndex() nameIndex {
	seed := maphash.MakeSeed()
	return nameIndex{
		hash:  func(name []byte) uint64 { return maphash.Bytes(seed, name) },
		first: make(map[uint64]*Filter),
		more:  make(map[string]*Filter),
	}
}

// find returns the filter with this name, or nil. It does not allocate and does not keep name.
func (n *nameIndex) find(name []byte) *Filter {
	if f := n.first[n.hash(name)]; f != nil && f.Name() == string(name) {
		return f
	}
	if len(n.more) > 0 {
		return n.more[string(name)]
	}
	return nil
}

// add adds a filter, replacing the one with the same name.
func (n *nameIndex) add(f *Filter) {
	name := f.Name()
	h := n.hash([]byte(name))
	if old := n.first[h]; old != nil && old.Name() != name {
		n.more[name] = f
		return
	}
	n.first[h] = f
	delete(n.more, name)
}

// remove removes a filter if it is the one with its name.
func (n *nameIndex) remove(f *Filter) {
	name := f.Name()
	if h := n.hash([]byte(name)); n.first[h] == f {
		delete(n.first, h)
	} else if n.more[name] == f {
		delete(n.more, name)
	}
}

func (n *nameIndex) len() int { return len(n.first) + len(n.more) }
