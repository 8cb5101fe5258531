package lipsin

import (
	"encoding/binary"
	"math/bits"

	"github.com/umbel-filters/umbel/inpacket"
)

// Candidate is the filter of a tree from one set of codewords.
type Candidate struct {
	Set    int                // whose codewords it is made of: the header's seed
	Bits   int                // the design's M
	Filter inpacket.BitString // the or of the tree's codewords
	Ones   int                // of its bits
	Fill   float64            // Ones of Bits, LIPSIN's ρ
	Rate   float64            // chance that a link matches that isn't in the tree: [Design.Rate] of Ones
	False  int                // of the links known next to the tree, how many match
}

// Candidates returns the filters of a tree, one for each set, in their order. Tree
// are the tree's links, others those next to it, on which False is counted. It
// doesn't ask for MaxFill. All links must be of this design.
func (d Design) Candidates(tree, others []Link) []Candidate {
	all := make([]Candidate, d.Sets)
	filters := make([]uint64, d.Sets*d.words())
	for s := range all {
		filter := filters[:d.words():d.words()]
		filters = filters[d.words():]
		for _, l := range tree {
			for w, word := range l.Set(s) {
				filter[w] |= word
			}
		}
		c := Candidate{Set: s, Bits: d.M, Filter: filter}
		for _, word := range filter {
			c.Ones += bits.OnesCount64(word)
		}
		for _, l := range others {
			if c.holds(l) {
				c.False++
			}
		}
		c.Fill = float64(c.Ones) / float64(d.M)
		c.Rate = d.Rate(c.Ones)
		all[s] = c
	}
	return all
}

// holds returns whether a link matches, without leaving early: branches that are
// guessed wrong cost more than the words.
func (c *Candidate) holds(l Link) bool {
	var missing uint64
	for w, word := range l.Set(c.Set) {
		missing |= word &^ c.Filter[w]
	}
	return missing == 0
}

// Put writes the filter into a header, as of the form inpacket.Dense with the set as
// its seed, and leaves the other fields alone.
func (c *Candidate) Put(h *inpacket.Header) {
	b := make([]byte, 0, 8*len(c.Filter))
	for _, word := range c.Filter {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	h.Form, h.K, h.Seed, h.Bits, h.Filter = inpacket.Dense, 0, uint16(c.Set), c.Bits, b[:(c.Bits+7)/8]
}
