package main

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/spec/vectors/internal/vector"
)

// inpackets returns keys, headers of each form with links that they contain or don't contain,
// and invalid headers.
func inpackets() ([]file, error) {
	files := []file{linkKeys()}
	for _, p := range validPackets() {
		f, err := p.file()
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	stored, err := storedCodewords()
	if err != nil {
		return nil, err
	}
	return slices.Concat(files, stored, badPackets()), nil
}

const (
	packetEpoch = 0x1234
	packetLinks = 24
)

// networkKey is the key of the network in the vectors.
var networkKey = inpacket.Key{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// linkLabel returns the label from which the key of link i is derived: the names of its ends.
func linkLabel(i int) []byte { return fmt.Appendf(nil, "node %d\x00node %d\x00", i, 3*i+1) }

func codewords() []inpacket.Codeword {
	cs := make([]inpacket.Codeword, packetLinks)
	for i := range cs {
		cs[i] = networkKey.Derive(linkLabel(i)).Codeword(packetEpoch)
	}
	return cs
}

// linkKeys returns keys of links and their codewords.
func linkKeys() file {
	var b strings.Builder
	for i := range packetLinks {
		key := networkKey.Derive(linkLabel(i))
		for _, epoch := range []uint16{0, 1, packetEpoch, 0xffff} {
			fmt.Fprintf(&b, "%x %x %x %d %s\n", networkKey, linkLabel(i), key, epoch, codewordText(key.Codeword(epoch)))
		}
	}
	return file{Path: "inpacket/keys.txt", Header: []field{
		{"comment", "keys of links in one direction, and their codewords"},
		{"row", "key of the network, label, key of the link, epoch, codeword"},
	}, Body: b.String()}
}

func codewordText(c inpacket.Codeword) string { return fmt.Sprintf("%016x%016x", c.H1, c.H2) }

// validPacket is a header that is accepted.
type validPacket struct {
	name, comment string
	header        inpacket.Header
	stored        []inpacket.BitString // codewords of links, if it is Dense
}

const packetPayload = "payload"

func (p validPacket) file() (file, error) {
	h := &p.header
	b, err := h.AppendBinary(nil)
	if err != nil {
		return file{}, fmt.Errorf("%s: %w", p.name, err)
	}
	header := []field{{"comment", p.comment}, {"expect", "ok"}}
	add := func(name string, value any) { header = append(header, field{name, fmt.Sprint(value)}) }
	add("size", len(b))
	add("ttl", h.TTL)
	add("form", uint8(h.Form))
	add("k", h.K)
	add("seed", h.Seed)
	add("bits", h.Bits)
	add("epoch", h.Epoch)
	add("group", h.Group)
	if h.Sequenced {
		add("source", h.Source)
		add("sequence", h.Sequence)
	}
	if h.Trace != nil {
		add("room", h.Trace.Capacity)
		for _, n := range h.Trace.Nodes {
			add("node", n)
		}
	}
	add("ones", h.Ones())
	add("overfull", h.Overfull())
	var held [1]uint64
	links := p.match(held[:])
	for i, l := range links {
		add(map[uint64]string{0: "link", 1: "held"}[held[0]>>i&1], l)
	}
	return file{Path: "inpacket/" + p.name + ".txt", Header: header, Body: vector.HexLines(append(b, packetPayload...))}, nil
}

// match matches the links and returns their codewords in hexadecimal.
func (p validPacket) match(held []uint64) []string {
	var links []string
	if p.header.Form != inpacket.Dense {
		cs := codewords()
		inpacket.NewTable(cs).Match(held, &p.header)
		for _, c := range cs {
			links = append(links, codewordText(c))
		}
		return links
	}
	sets := make([][]inpacket.BitString, p.header.Seed+1)
	for s := range sets {
		sets[s] = p.stored
	}
	inpacket.NewDenseTable(denseBits, sets).Match(held, &p.header)
	for _, c := range p.stored {
		links = append(links, hex.EncodeToString(bitBytes(c, denseBits)))
	}
	return links
}

// denseBits is the number of bits of stored codewords.
const denseBits = 248

// bitBytes returns a bit string as bytes.
func bitBytes(c inpacket.BitString, bits int) []byte {
	b := make([]byte, (bits+7)/8)
	for i := range b {
		b[i] = byte(c[i/8] >> (i % 8 * 8))
	}
	return b
}

func validPackets() []validPacket {
	var ps []validPacket
	add := func(name, comment string, h inpacket.Header) {
		h.Epoch, h.Group = packetEpoch, 0xa1b2c3d4
		ps = append(ps, validPacket{name: name, comment: comment, header: h})
	}
	add("single", "the first five links by four positions", holding(inpacket.Header{TTL: 9, K: 4, Seed: 7, Bits: 37}, 5))
	add("single-example", "the example of the page: the first two links", holding(inpacket.Header{TTL: 3, K: 4, Seed: 1, Bits: 16}, 2))
	for _, k := range []uint8{1, 3, 15} {
		add(fmt.Sprintf("single-k-%02d", k), "other numbers of positions", holding(inpacket.Header{TTL: 9, K: k, Seed: 200, Bits: 157}, 8))
	}
	add("single-wide", "a seed of 16 bits", holding(inpacket.Header{TTL: 255, K: 4, Seed: 0xabcd, Bits: 64}, 6))
	add("single-long", "the largest number of bits", holding(inpacket.Header{TTL: 9, K: 5, Seed: 3, Bits: inpacket.MaxBits}, packetLinks/2))
	add("single-one-bit", "one bit, and it is one: a router drops it", holding(inpacket.Header{TTL: 9, K: 1, Bits: 1}, 1))
	add("single-ttl-0", "the TTL is used up", holding(inpacket.Header{K: 4, Seed: 7, Bits: 37}, 5))
	sequenced := inpacket.Header{TTL: 9, K: 4, Seed: 7, Bits: 37, Sequenced: true, Source: 0x01020304, Sequence: 0xfffffffe}
	add("single-sequenced", "with source and sequence", holding(sequenced, 5))
	traced := sequenced
	traced.Trace = &inpacket.Trace{Nodes: []uint32{4, 0xdeadbeef}, Capacity: 4}
	add("single-traced", "with source, sequence and a trace with room for two more", holding(traced, 5))
	add("single-trace-full", "with a trace that is full",
		holding(inpacket.Header{TTL: 9, K: 4, Seed: 0x100, Bits: 37, Trace: &inpacket.Trace{Nodes: []uint32{1}, Capacity: 1}}, 5))
	for _, bits := range []int{36, 55, 55440} {
		add(fmt.Sprintf("folded-%d", bits), "a divisor of 55440", holding(inpacket.Header{TTL: 9, Form: inpacket.Folded, K: 3, Bits: bits}, 6))
	}
	for ttl := range uint8(5) {
		add(fmt.Sprintf("staged-ttl-%d", ttl), "three stages; a router sees this TTL", staged(ttl))
	}
	for _, l := range []struct {
		k    uint8
		seed uint16
		bits int
	}{{0, 5, 9}, {0, 5, 65}, {1, 5, 40}, {7, 255, 130}, {8, 5, 40}, {12, 0x1f0, 600}, {13, 5, 48}, {15, 5, 200}, {15, 5, 7}, {4, 5, 5000}} {
		add(fmt.Sprintf("linear-k-%02d-%d", l.k, l.bits), "bits by chance", inpacket.Header{
			TTL: 9, Form: inpacket.Linear, K: l.k, Seed: l.seed, Bits: l.bits, Filter: chance(l.bits, 1)})
	}
	for _, l := range []struct {
		form    inpacket.Form
		k       uint8
		seed    uint16
		bits    int
		comment string
	}{
		{inpacket.Deep, 0, 5, 30, "five sections"}, {inpacket.Deep, 3, 0xfff0, 700, "five sections"}, {inpacket.Deep, 6, 5, 90, "six sections"},
		{inpacket.Deep, 8, 5, 64, "seven sections"}, {inpacket.Deep, 11, 7, 1400, "seven sections"}, {inpacket.Deep, 12, 5, 48, "eight sections"},
		{inpacket.Deep, 15, 255, 12000, "eight sections"}, {inpacket.Deep, 15, 5, 12, "sections without bits: no link is held"},
		{inpacket.Complement, 0, 5, 24, "links that aren't odd in both sections"}, {inpacket.Complement, 7, 0x1f0, 300, "links that aren't odd in both sections"},
		{inpacket.Complement, 15, 5, 640, "links that aren't odd in both sections"},
		{inpacket.Complement, 15, 5, 63, "a section without bits: all links are held, and a router drops it"},
	} {
		add(fmt.Sprintf("%s-k-%02d-%d", map[inpacket.Form]string{inpacket.Deep: "deep", inpacket.Complement: "complement"}[l.form], l.k, l.bits), l.comment,
			inpacket.Header{TTL: 9, Form: l.form, K: l.k, Seed: l.seed, Bits: l.bits, Filter: chance(l.bits, 2)})
	}
	empty := inpacket.Header{TTL: 9, Form: inpacket.Complement, Bits: 24, Filter: []byte{0, 0xfe, 0x55}}
	add("complement-empty", "a section of zeros: all links are held, and a router drops it", empty)
	for _, bits := range []int{248, 100, 24} {
		ps = append(ps, dense(bits))
	}
	return ps
}

// holding returns h with a filter that contains the first n links.
func holding(h inpacket.Header, n int) inpacket.Header {
	h.Filter = make([]byte, (h.Bits+7)/8)
	for _, c := range codewords()[:n] {
		if err := h.Or(c); err != nil {
			panic(err) // the header above is wrong
		}
	}
	return h
}

// staged returns a header with three stages, each with some of the links.
func staged(ttl uint8) inpacket.Header {
	h := inpacket.Header{TTL: ttl, Form: inpacket.Staged, K: 3, Seed: 0x21, Filter: make([]byte, 200)}
	put := func(n int, v uint64) {
		for i := range n {
			h.Filter[h.Bits/8] |= byte(v>>i&1) << (h.Bits % 8)
			h.Bits++
		}
	}
	cs := codewords()
	for i, s := range []struct {
		nibble uint8
		bits   int
		links  []inpacket.Codeword
	}{{3, 41, cs[10:17]}, {0, 132, cs[3:10]}, {15, 13, cs[:3]}} {
		code, ok := inpacket.StageCode(s.bits)
		if !ok || inpacket.StageBits(code) != s.bits {
			panic(fmt.Sprintf("stage %d: no code of %d bits", i, s.bits))
		}
		put(4, uint64(s.nibble))
		put(8, uint64(code))
		set := make([]uint64, s.bits)
		for _, c := range s.links {
			for _, p := range c.AppendPositions(nil, inpacket.StageSeed(h.Seed, s.nibble), h.K, s.bits) {
				set[p] = 1
			}
		}
		for _, v := range set {
			put(1, v)
		}
	}
	h.Filter = h.Filter[:(h.Bits+7)/8]
	return h
}

// dense returns a header with the first five links, which sends the given number of bits of
// stored codewords.
func dense(bits int) validPacket {
	r := rand.New(rand.NewPCG(5, 0))
	p := validPacket{name: fmt.Sprintf("dense-%d", bits), comment: fmt.Sprintf("stored codewords of %d bits", denseBits)}
	p.header = inpacket.Header{TTL: 9, Form: inpacket.Dense, Seed: 6, Bits: bits, Epoch: packetEpoch, Group: 1, Filter: make([]byte, (bits+7)/8)}
	for i := range packetLinks {
		c := make(inpacket.BitString, 4)
		for range 5 {
			at := r.IntN(denseBits)
			c[at/64] |= 1 << (at % 64)
		}
		p.stored = append(p.stored, c)
		if i < 5 {
			if err := p.header.OrDense(c); err != nil {
				panic(err) // the header above is wrong
			}
		}
	}
	return p
}

// chance returns random bits, about half of them ones.
func chance(bits int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, uint64(bits)))
	f := make([]byte, (bits+7)/8)
	for i := range bits {
		f[i/8] |= byte(r.Uint32()&1) << (i % 8)
	}
	return f
}
