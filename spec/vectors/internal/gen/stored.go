package main

import (
	"fmt"
	"strings"

	"github.com/umbel-filters/umbel/multicast/adaptive"
	"github.com/umbel-filters/umbel/multicast/inpacket"
)

// storedCodewords returns stored codewords of dense headers, and invalid designs.
func storedCodewords() ([]file, error) {
	drawn, err := adaptiveCodewords()
	if err != nil {
		return nil, err
	}
	bad, err := badDesigns()
	if err != nil {
		return nil, err
	}
	return []file{drawn, bad}, nil
}

// storedLinks is the number of links with stored codewords.
const storedLinks = 12

// designs are small designs of each objective: with and without a second draw, with the sum of
// the odds below one and exactly one, with several segments.
func designs() []*adaptive.Design {
	const half = 1 << 63
	return []*adaptive.Design{
		{Objective: adaptive.Hashed, K: 3, Least: 2, Rate: 0.1, Ends: []int{5, 20, 31},
			Runs: []adaptive.Run{{Positions: 5, Odds: 1 << 60}, {Positions: 26, Odds: 1 << 58}}},
		{Objective: adaptive.Hashed, K: 6, Rate: 0.01, Ends: []int{32, 64}, Weights: adaptive.Weights{3, 1},
			Runs: []adaptive.Run{{Positions: 64, Odds: 1 << 58}}},
		{Objective: adaptive.Independent, Least: 1, Rate: 0.1, Method: adaptive.ByFormula, Ends: []int{9, 16, 24},
			Runs: []adaptive.Run{{Positions: 9, Odds: half}, {Positions: 7, Odds: 0x5555555555555555}, {Positions: 8, Odds: half / 2}}},
		{Objective: adaptive.Independent, Rate: 0.1, Ends: []int{50, 70},
			Runs: []adaptive.Run{{Positions: 50, Odds: half + half/2}, {Positions: 20, Odds: 1}}},
		{Objective: adaptive.Independent, Least: 7, Rate: 0.1, Ends: []int{8},
			Runs: []adaptive.Run{{Positions: 8, Odds: half / 4}}},
	}
}

func adaptiveCodewords() (file, error) {
	var b strings.Builder
	for _, d := range designs() {
		design, err := d.MarshalBinary()
		if err != nil {
			return file{}, err
		}
		s, err := d.Sampler()
		if err != nil {
			return file{}, err
		}
		for i, c := range codewords()[:storedLinks] {
			set := i * i * 541
			fmt.Fprintf(&b, "%x %s %d %x\n", design, codewordText(c), set, bitBytes(inpacket.BitString(s.Codeword(c, set)), d.Bits()))
		}
	}
	return file{Path: "inpacket/adaptive.txt", Header: []field{
		{"comment", "codewords of links by adaptive designs"},
		{"row", "design, codeword, set, stored codeword"},
	}, Body: b.String()}, nil
}

// badDesigns returns encoded designs with one fault each.
func badDesigns() (file, error) {
	d := *designs()[1]
	sound, err := d.MarshalBinary()
	if err != nil {
		return file{}, err
	}
	var b strings.Builder
	add := func(why string, bytes []byte) { fmt.Fprintf(&b, "%x %s\n", bytes, why) }
	change := func(at int, to ...byte) []byte {
		return append(append(append([]byte(nil), sound[:at]...), to...), sound[at+len(to):]...)
	}
	// magic 4, objective, method, rate 8, k, least, n, two ends, r, positions, odds 8, w, two weights
	add("version", change(3, 2))
	add("cut", sound[:len(sound)-1])
	add("long", append(append([]byte(nil), sound...), 0))
	add("objective", change(4, 2))
	add("method", change(5, 4))
	add("rate-0", change(6, 0, 0, 0, 0, 0, 0, 0, 0))
	add("rate-1", change(6, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0))
	add("rate-nan", change(6, 0x7f, 0xf8, 0, 0, 0, 0, 0, 1))
	add("no-draw", change(14, 0))
	add("independent-draws", change(4, 0))
	add("least-above-k", change(15, 7))
	add("no-links", change(16, 0))
	add("no-bits", change(17, 0))
	add("positions-below", change(20, 63))
	add("positions-above", change(20, 65))
	add("odds-0", change(21, 0, 0, 0, 0, 0, 0, 0, 0))
	add("odds-above-1", change(21, 4, 0, 0, 0, 0, 0, 0, 1))
	add("one-weight", append(change(29, 1)[:30], 1))
	add("last-weight-0", change(31, 0))
	add("long-number", append(append(append([]byte(nil), sound[:14]...), 0x86, 0), sound[15:]...))
	return file{Path: "inpacket/designs-bad.txt", Header: []field{
		{"comment", "adaptive designs that are refused"},
		{"row", "design, why"},
	}, Body: b.String()}, nil
}
