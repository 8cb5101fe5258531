package inpacket

import (
	"bufio"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// network is a graph for tests: the neighbors of each node.
type network [][]int

// randomNetwork returns a connected network of the given number of nodes: a random tree, and
// further links.
func randomNetwork(r *rand.Rand, nodes, more int) network {
	n := make(network, nodes)
	join := func(a, b int) {
		for _, c := range n[a] {
			if b == c {
				return
			}
		}
		if a != b {
			n[a], n[b] = append(n[a], b), append(n[b], a)
		}
	}
	for i := 1; i < nodes; i++ {
		join(i, r.IntN(i))
	}
	for range more {
		join(r.IntN(nodes), r.IntN(nodes))
	}
	return n
}

// readNetwork reads a file of edges: lines "e", node, node, weight.
func readNetwork(t testing.TB, path string) network {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var n network
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Split(s.Text(), "\t")
		if fields[0] == "n" {
			n = append(n, nil)
		}
		if fields[0] == "e" {
			a, _ := strconv.Atoi(fields[1])
			b, _ := strconv.Atoi(fields[2])
			n[a], n[b] = append(n[a], b), append(n[b], a)
		}
	}
	return n
}

// arcKey is the key of all networks in tests.
var arcKey = Key{1, 2, 3}

// arc returns the codeword of the link from a node to a neighbor.
func arc(from, to int) Codeword {
	var label [8]byte
	binary.BigEndian.PutUint32(label[:], uint32(from))
	binary.BigEndian.PutUint32(label[4:], uint32(to))
	return arcKey.Derive(label[:]).Codeword(1)
}

// task returns the task of a tree of shortest paths from a random node to others.
func (n network) task(r *rand.Rand, receivers int) Task {
	order := r.Perm(len(n))
	source := order[0]
	parent, hop := make([]int, len(n)), make([]int, len(n))
	for i := range parent {
		parent[i] = -1
	}
	parent[source] = source
	queue := []int{source}
	for i := 0; i < len(queue); i++ {
		at := queue[i]
		for _, to := range n[at] {
			if parent[to] < 0 {
				parent[to], hop[to] = at, hop[at]+1
				queue = append(queue, to)
			}
		}
	}
	in := make([]bool, len(n))
	in[source] = true
	for _, at := range order[1:min(len(order), 1+receivers)] {
		for ; !in[at]; at = parent[at] {
			in[at] = true
		}
	}
	var t Task
	for at, is := range in {
		for is && len(t.Tree) <= hop[at] {
			t.Tree, t.Others = append(t.Tree, nil), append(t.Others, nil)
		}
		if !is {
			continue
		}
		for _, to := range n[at] {
			switch {
			case in[to] && parent[to] == at && to != source:
				t.Tree[hop[at]] = append(t.Tree[hop[at]], arc(at, to))
			case parent[at] != to || at == source:
				t.Others[hop[at]] = append(t.Others[hop[at]], arc(at, to))
			}
		}
	}
	// At the deepest nodes the TTL is used up: they match nothing.
	last := len(t.Tree) - 1
	t.Tree, t.Others = t.Tree[:last], t.Others[:last]
	return t
}

// count returns the number of links in a task that must match, and of those that must not.
func (t Task) count() (tree, others int) {
	for i := range t.Tree {
		tree += len(t.Tree[i])
		others += len(t.Others[i])
	}
	return tree, others
}
