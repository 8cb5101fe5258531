package main

import (
	"bytes"

	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/spec/vectors/internal/vector"
)

// badPackets returns invalid packets: valid ones with one fault each.
func badPackets() []file {
	written := func(h inpacket.Header, n int) []byte {
		h = holding(h, n)
		b, err := h.AppendBinary(nil)
		if err != nil {
			panic(err) // the header is wrong
		}
		return b
	}
	plain := written(inpacket.Header{TTL: 9, K: 3, Seed: 7, Bits: 20, Epoch: packetEpoch}, 2)
	wide := written(inpacket.Header{TTL: 9, K: 3, Seed: 0x107, Bits: 20}, 2)
	sequenced := written(inpacket.Header{TTL: 9, K: 3, Bits: 20, Sequenced: true}, 2)
	traced := written(inpacket.Header{TTL: 9, K: 3, Bits: 20, Trace: &inpacket.Trace{Nodes: []uint32{1}, Capacity: 2}}, 2)
	folded := written(inpacket.Header{TTL: 9, Form: inpacket.Folded, K: 3, Bits: 20}, 2)
	three := staged(2)
	stages, err := three.AppendBinary(nil)
	if err != nil {
		panic(err)
	}

	// with sets bytes: place, value, place, value.
	with := func(b []byte, change ...byte) []byte {
		b = bytes.Clone(b)
		for i := 0; i < len(change); i += 2 {
			b[change[i]] = change[i+1]
		}
		return b
	}
	bad := func(name, comment string, b []byte) file {
		return file{Path: "inpacket/" + name + ".txt", Header: []field{{"comment", comment}, {"expect", "malformed"}}, Body: vector.HexLines(b)}
	}
	of := func(version byte) file {
		f := bad("version", "version 2", with(plain, 0, version<<4))
		f.Header[1][1] = "version"
		return f
	}
	return []file{
		of(2),
		bad("bad-empty", "no byte", nil),
		bad("bad-cut-fixed", "the first 11 bytes", plain[:11]),
		bad("bad-cut-filter", "a filter of two bytes for 20 bits", plain[:14]),
		bad("bad-cut-padding", "no padding", plain[:15]),
		bad("bad-cut-seed", "no high byte of the seed", wide[:12]),
		bad("bad-cut-sequence", "half a sequence", sequenced[:22]),
		bad("bad-cut-trace-head", "half the head of a trace", traced[:18]),
		bad("bad-cut-trace", "room for one node and a half", traced[:26]),
		bad("bad-reserved", "the reserved flag", with(plain, 0, 0x11)),
		bad("bad-wide-seed", "a seed of 7 with the flag W", with(wide, 12, 0)),
		bad("bad-no-bits", "m is 0", with(plain[:12], 5, 0)),
		bad("bad-bits", "bit 20 of 20 is one", with(plain, 14, plain[14]|0x10)),
		bad("bad-padding", "padding of 1", with(plain, 15, 1)),
		bad("bad-form", "form 5", with(plain, 2, 0x35)),
		bad("bad-form-8", "form 8", with(plain, 2, 0x38)),
		bad("bad-k-single", "K is 0", with(plain, 2, 0x00)),
		bad("bad-k-staged", "K is 0 in stages", with(stages, 2, 0x01)),
		bad("bad-k-folded", "K is 0 in a folded filter", with(folded, 2, 0x02)),
		bad("bad-k-dense", "K is 1 in a dense filter", with(plain, 2, 0x14)),
		bad("bad-folded-bits", "19 bits: no divisor", with(folded, 5, 19, 14, folded[14]&0x07)),
		bad("bad-folded-seed", "a folded filter with a seed", with(folded, 3, 1)),
		bad("bad-stage-cut", "the last stage is longer than the filter", with(stages, 12, stages[12]|0xf0)),
		bad("bad-stages", "256 stages without bits", manyStages(256)),
		bad("bad-trace-count", "three nodes where there is room for two", with(traced, 16, 3)),
		bad("bad-trace-reserved", "the last byte of a trace's head", with(traced, 19, 1)),
		bad("bad-trace-room", "free room of a trace that isn't zero", with(traced, 27, 1)),
	}
}

// manyStages returns a header with n stages, n even, without bits.
func manyStages(n int) []byte {
	bits := n * inpacket.StageHeadBits
	b := []byte{0x10, 9, 0x11, 0, byte(bits >> 8), byte(bits), 0, 0, 0, 0, 0, 0}
	return append(b, make([]byte, bits/8)...)
}
