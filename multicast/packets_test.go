package multicast

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/multicast/inpacket"
)

// links returns codewords of links with the names 0, 1, …
func links(n int) []inpacket.Codeword {
	cs := make([]inpacket.Codeword, n)
	for i := range cs {
		cs[i] = inpacket.Key{}.Derive(binary.BigEndian.AppendUint32(nil, uint32(i))).Codeword(1)
	}
	return cs
}

// dense returns stored codewords of links, four of the bits of each set.
func dense(seed uint64, bits, sets, links int) [][]inpacket.BitString {
	r := rand.New(rand.NewPCG(seed, 0))
	all := make([][]inpacket.BitString, sets)
	for s := range all {
		for range links {
			c := make(inpacket.BitString, (bits+63)/64)
			for range 4 {
				b := r.IntN(bits)
				c[b>>6] |= 1 << (b & 63)
			}
			all[s] = append(all[s], c)
		}
	}
	return all
}

// single returns the header of a filter of the given number of bits that contains the links.
func single(bits int, links ...inpacket.Codeword) inpacket.Header {
	h := inpacket.Header{TTL: 5, K: 4, Seed: 3, Bits: bits, Epoch: 1, Group: 9, Filter: make([]byte, (bits+7)/8)}
	for _, c := range links {
		if err := h.Or(c); err != nil {
			panic(err)
		}
	}
	return h
}

// pack returns the header as a packet with a payload.
func pack(t testing.TB, h inpacket.Header) []byte {
	t.Helper()
	b, err := h.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return append(b, "payload"...)
}

func newNode(t testing.TB, c Config) *Node {
	t.Helper()
	n, err := NewNode(c)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// ports returns the ports of copies.
func ports(copies []Copy) []int {
	ps := []int{}
	for _, c := range copies {
		ps = append(ps, c.Port)
	}
	return ps
}

// forms returns packets of all forms for a node with the given links.
func forms(t testing.TB, cs []inpacket.Codeword, stored [][]inpacket.BitString, bits int) map[string][]byte {
	t.Helper()
	h := single(200, cs[0], cs[len(cs)-1])
	all := map[string][]byte{"single": pack(t, h)}
	h.Sequenced, h.Source = true, 1
	all["sequenced"] = pack(t, h)
	h = inpacket.Header{TTL: 9, Form: inpacket.Folded, K: 4, Bits: 220, Epoch: 1, Filter: make([]byte, 28)}
	if err := h.Or(cs[0]); err != nil {
		t.Fatal(err)
	}
	all["folded"] = pack(t, h)
	h = inpacket.Header{TTL: 9, Form: inpacket.Linear, K: 9, Bits: 200, Epoch: 1, Filter: bytes.Repeat([]byte{0x35}, 25)}
	all["linear"] = pack(t, h)
	h = inpacket.Header{TTL: 1, Form: inpacket.Staged, K: 2, Bits: 12 + 52, Epoch: 1, Filter: []byte{0x45, 0x03, 0x55, 0xaa, 0x55, 0xaa, 0x55, 0xaa}}
	all["staged"] = pack(t, h)
	h = inpacket.Header{TTL: 9, Form: inpacket.Dense, Bits: bits, Epoch: 1, Filter: make([]byte, (bits+7)/8)}
	if err := h.OrDense(stored[0][0]); err != nil {
		t.Fatal(err)
	}
	all["dense"] = pack(t, h)
	return all
}
