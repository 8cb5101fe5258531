package dataplane_test

import (
	"testing"

	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/tree"
)

// newHeader returns a header that holds the arcs of a tree, and none next to it.
func newHeader(t testing.TB, n *multicast.Network, way *tree.Tree) []byte {
	t.Helper()
	var others []inpacket.Codeword
	for _, arcs := range way.Adjacent() {
		for _, a := range arcs {
			others = append(others, n.Codeword(a))
		}
	}
	table := inpacket.NewTable(others)
	bits := 16 * len(way.Steps)
	for seed := range uint16(256) {
		h := inpacket.Header{TTL: uint8(way.Depth()), Form: inpacket.Single, K: 5, Seed: seed, Bits: bits,
			Filter: make([]byte, (bits+7)/8), Epoch: n.Epoch, Group: group}
		for _, s := range way.Steps {
			if err := h.Or(n.Codeword(s.Arc)); err != nil {
				t.Fatal(err)
			}
		}
		hits := make([]uint64, (len(others)+63)/64)
		table.Match(hits, &h)
		if none(hits) {
			b, err := h.AppendBinary(nil)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
	}
	t.Fatal("no seed without a false match")
	return nil
}

func none(set []uint64) bool {
	for _, w := range set {
		if w != 0 {
			return false
		}
	}
	return true
}
