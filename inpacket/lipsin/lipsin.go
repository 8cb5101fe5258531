// Package lipsin makes the filters of LIPSIN (Jokela et al. 2009): of each link d
// codewords of m bits, k of them set, and of each tree the best of d filters.
//
// A [Design] says how many of each. It gives each [Link] its codewords, and
// [Design.Choose] makes the d filters of a tree and chooses, once by the rate of
// false positives that the ones let expect and once by the links known next to the
// tree. Routers hold the codewords of their links in an inpacket.DenseTable.
package lipsin

import (
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/probe"
)

// Design is how links become codewords and which filters may be sent. [LIPSIN] is
// the one of the paper.
type Design struct {
	M    int // bits of a codeword and of a filter, 1 to MaxBits
	K    int // of them set in a codeword, 1 to MaxK and no more than M
	Sets int // d, the codewords of a link and candidates for a tree, 1 to MaxSets

	// MaxFill is the most of a filter's bits, as a fraction above 0 and at most 1,
	// that may be one: a fuller filter isn't sent, and LIPSIN's routers don't
	// forward it, so that nobody reaches all links with ones alone. The paper gives
	// its ρ_max as about 50 to 70 %; routers of inpacket drop from 3/4.
	MaxFill float64
}

// Limits of a design: those of the fields of inpacket.Header.
const (
	MaxBits = inpacket.MaxBits
	MaxK    = 15
	MaxSets = 1 << 8
)

// LIPSIN returns the paper's design: m = 248, k = 5, d = 8, and of its range of
// largest fills the upper end, 0.7, which lets it carry the most links. At 0.5 trees
// of more than some 34 links can't be sent, at 0.7 those of more than some 59.
func LIPSIN() Design { return Design{M: 248, K: 5, Sets: 8, MaxFill: 0.7} }

// Check says what is wrong with a design, if anything is: an error that wraps
// [umbel.ErrGoal].
func (d Design) Check() error {
	switch {
	case d.M < 1 || d.M > MaxBits:
		return fmt.Errorf("lipsin: m is %d bits, want 1 to %d: %w", d.M, MaxBits, umbel.ErrGoal)
	case d.K < 1 || d.K > MaxK || d.K > d.M:
		return fmt.Errorf("lipsin: k is %d, want 1 to %d: %w", d.K, min(MaxK, d.M), umbel.ErrGoal)
	case d.Sets < 1 || d.Sets > MaxSets:
		return fmt.Errorf("lipsin: d is %d sets of codewords, want 1 to %d: %w", d.Sets, MaxSets, umbel.ErrGoal)
	case !(d.MaxFill > 0 && d.MaxFill <= 1):
		return fmt.Errorf("lipsin: the most that may be one is %v of the bits, want above 0 and at most 1: %w", d.MaxFill, umbel.ErrGoal)
	}
	return nil
}

// words returns the length of a codeword in words.
func (d Design) words() int { return (d.M + 63) / 64 }

// Link is the codewords of a link, one for each set: LIPSIN's link identity tags.
type Link struct {
	bits  []uint64 // set after set
	words int      // of each
}

// Set returns the codeword of set s, below the design's Sets. Exactly K of its bits
// are set. Don't change it.
func (l Link) Set(s int) inpacket.BitString {
	return l.bits[s*l.words : (s+1)*l.words : (s+1)*l.words]
}

// Link returns a link's codewords. Those of set s are made from values s<<12 up of
// the link's stream, one a bit, where headers with seed s begin. It panics if the
// design doesn't pass Check.
func (d Design) Link(c inpacket.Codeword) Link {
	if err := d.Check(); err != nil {
		panic(err)
	}
	l := Link{bits: make([]uint64, d.Sets*d.words()), words: d.words()}
	for s := range d.Sets {
		d.draw(l.Set(s), c, s)
	}
	return l
}

// draw sets K of M bits, all choices equally likely, from K values: Floyd's way, by
// which the bit drawn among the first n+1 gives way to bit n if it is taken, since
// that one can't be yet. (Drawing again needs no fixed number of values.)
func (d Design) draw(bits inpacket.BitString, c inpacket.Codeword, set int) {
	stream := probe.Start(umbel.Digest{H1: c.H1, H2: c.H2}).Skip(uint64(set) << 12)
	var v uint64
	for n := d.M - d.K; n < d.M; n++ {
		v, stream = stream.Next()
		b := probe.Reduce(v, uint64(n)+1)
		if bits[b>>6]>>(b&63)&1 != 0 {
			b = uint64(n)
		}
		bits[b>>6] |= 1 << (b & 63)
	}
}

// Table returns what the router of a node needs: the codewords of its links, which
// are of this design, in their order.
func (d Design) Table(links []Link) *inpacket.DenseTable {
	sets := make([][]inpacket.BitString, d.Sets)
	for s := range sets {
		for _, l := range links {
			sets[s] = append(sets[s], l.Set(s))
		}
	}
	return inpacket.NewDenseTable(d.M, sets)
}
