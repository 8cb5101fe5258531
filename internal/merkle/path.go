package merkle

// Node returns node i of a level.
func (t *Tree) Node(level int, i uint64) Hash { return t.levels[level][i] }

// Path returns the audit path of node i of a level: the hashes with which [Verify] computes the
// root, the lowest level first. RFC 9162, section 2.1.3.1, defines it for leaves; for another
// level it is that of a tree whose leaves are the nodes of the level.
func (t *Tree) Path(level int, i uint64) []Hash {
	var path []Hash
	for _, nodes := range t.levels[level:] {
		if other := i ^ 1; other < uint64(len(nodes)) {
			path = append(path, nodes[other])
		}
		i /= 2
	}
	return path
}

// Verify reports whether the tree with the given root has this node as number i of the n nodes
// of its level. The path may be untrusted (RFC 9162, section 2.1.3.2).
func Verify(root, node Hash, i, n uint64, path []Hash) bool {
	if i >= n {
		return false
	}
	h := NewHasher()
	last := n - 1
	for _, other := range path {
		if last == 0 {
			return false
		}
		if i&1 == 1 || i == last {
			node = h.Node(&other, &node)
			for i&1 == 0 && i != 0 {
				i, last = i/2, last/2
			}
		} else {
			node = h.Node(&node, &other)
		}
		i, last = i/2, last/2
	}
	return last == 0 && node == root
}
