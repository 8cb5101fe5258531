package merkle

import (
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"testing"
)

// mth is the definition in RFC 9162, section 2.1.1, word for word.
func mth(d [][]byte) Hash {
	switch n := len(d); n {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return sha256.Sum256(append([]byte{0}, d[0]...))
	default:
		k := 1
		for 2*k < n {
			k *= 2
		}
		l, r := mth(d[:k]), mth(d[k:])
		return sha256.Sum256(slices.Concat([]byte{1}, l[:], r[:]))
	}
}

// sizes are numbers of leaves with different forms of the right edge.
var sizes = []int{0, 1, 2, 3, 4, 5, 7, 8, 31, 63, 64, 65, 66, 127, 128, 129, 192, 193, 1000, 4096, 4097, 8255}

// sample returns n leaves; half of them are equal.
func sample(n int) [][]byte {
	d := make([][]byte, n)
	for i := range d {
		d[i] = []byte{byte(i), byte(i >> 8), byte(i >> 16)}
		if i/64%2 == 1 {
			d[i] = make([]byte, 3)
		}
	}
	return d
}

func leavesOf(d [][]byte) Leaves { return func(h *Hasher, i uint64) Hash { return h.Leaf(d[i]) } }

// All ways to compute a root agree with the definition.
func TestRoot(t *testing.T) {
	for _, n := range sizes {
		d := sample(n)
		want := mth(d)
		for _, workers := range []int{0, 1, 2, 3} {
			if got := Root(NewHasher(), uint64(n), workers, leavesOf(d)); got != want {
				t.Errorf("%d leaves, %d workers: Root %x, want %x", n, workers, got, want)
			}
			if got := RootOfBytes(slices.Concat(d...), 3, workers); got != want {
				t.Errorf("%d leaves, %d workers: RootOfBytes %x, want %x", n, workers, got, want)
			}
			tree := NewTree(NewHasher(), uint64(n), workers, leavesOf(d))
			if got := tree.Root(); got != want || tree.Len() != uint64(n) {
				t.Errorf("%d leaves, %d workers: tree of %d with root %x, want %x", n, workers, tree.Len(), got, want)
			}
		}
	}
}

// The last leaf of data may be shorter.
func TestShortLeaf(t *testing.T) {
	data := []byte("0123456789")
	if got, want := RootOfBytes(data, 4, 1), mth([][]byte{data[:4], data[4:8], data[8:]}); got != want {
		t.Errorf("root %x, want %x", got, want)
	}
}

// TestCertificateTransparency compares with the roots in the tests of Certificate Transparency.
func TestCertificateTransparency(t *testing.T) {
	h := NewHasher()
	var f Frontier
	for i, c := range [][2]string{
		{"", "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"},
		{"00", "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"},
		{"10", "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"},
		{"2021", "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"},
		{"3031", "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4"},
		{"40414243", "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef"},
		{"5051525354555657", "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c"},
		{"606162636465666768696a6b6c6d6e6f", "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"},
	} {
		data, _ := hex.DecodeString(c[0])
		f.Add(h, h.Leaf(data))
		if got := f.Root(h); hex.EncodeToString(got[:]) != c[1] {
			t.Errorf("%d leaves: root %x, want %s", i+1, got, c[1])
		}
	}
}

// After any change, the tree is that of the new leaves.
func TestUpdate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range sizes[1:] {
		d := sample(n)
		tree := NewTree(NewHasher(), uint64(n), 1, leavesOf(d))
		clone, root := tree.Clone(), tree.Root()
		for round := range 20 {
			var changed []uint64
			marks := make([]uint64, numGroups(uint64(n)))
			for range 1 + rng.IntN(min(n, 1<<rng.IntN(8))) {
				i := rng.IntN(n)
				d[i] = []byte{byte(round), byte(rng.Uint32())}
				changed = append(changed, uint64(i))
				marks[i/64] |= 1 << (i % 64)
			}
			slices.Sort(changed)
			if round%2 == 0 {
				tree.UpdateLeaves(NewHasher(), slices.Values(changed), leavesOf(d))
			} else {
				tree.Update(NewHasher(), 1+round%3, func(g uint64) uint64 { return marks[g] }, leavesOf(d))
			}
			fresh := NewTree(NewHasher(), uint64(n), 1, leavesOf(d))
			if !slices.EqualFunc(tree.levels, fresh.levels, slices.Equal) {
				t.Fatalf("%d leaves: the tree after changing %d isn't that of the leaves", n, changed)
			}
		}
		if clone.Root() != root {
			t.Errorf("%d leaves: changing a tree changed its clone", n)
		}
	}
}

// Each node of each level is verified by its path, and no other node is.
func TestPath(t *testing.T) {
	for _, n := range sizes[1:15] {
		tree := NewTree(NewHasher(), uint64(n), 1, leavesOf(sample(n)))
		for level := range tree.levels {
			count := uint64(len(tree.levels[level]))
			for i := range count {
				node, path := tree.Node(level, i), tree.Path(level, i)
				if !Verify(tree.Root(), node, i, count, path) {
					t.Fatalf("%d leaves: node %d of level %d isn't verified", n, i, level)
				}
				other := node
				other[31] ^= 1
				if Verify(tree.Root(), other, i, count, path) {
					t.Fatalf("%d leaves: a changed node %d of level %d is verified", n, i, level)
				}
				if Verify(tree.Root(), node, i, count, append(path, other)) ||
					len(path) > 0 && Verify(tree.Root(), node, i, count, path[:len(path)-1]) {
					t.Fatalf("%d leaves: node %d of level %d is verified by a path of another length", n, i, level)
				}
				if Verify(tree.Root(), node, i+count, count, path) {
					t.Fatalf("%d leaves: node %d of level %d is verified beyond the last", n, i, level)
				}
			}
		}
	}
}

// FuzzVerify: an untrusted path neither verifies a node that isn't in the tree nor fails.
func FuzzVerify(f *testing.F) {
	tree := NewTree(NewHasher(), 13, 1, leavesOf(sample(13)))
	f.Add(uint64(3), uint64(13), []byte{})
	f.Add(uint64(12), uint64(13), make([]byte, 64))
	f.Fuzz(func(t *testing.T, i, n uint64, data []byte) {
		var path []Hash
		for ; len(data) >= 32; data = data[32:] {
			path = append(path, Hash(data))
		}
		if Verify(tree.Root(), Hash{1}, i, n, path) {
			t.Errorf("a node that isn't in the tree is verified as %d of %d by %x", i, n, path)
		}
	})
}
