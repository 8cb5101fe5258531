// Package lipsin makes the filters of LIPSIN (Jokela et al. 2009). Each link has d
// codewords of m bits with k ones. Each tree has d candidate filters, and the
// best one is sent.
//
// [Parameters] are the values of m, k and d. They give each link its codewords: [Parameters.Codewords].
// [Parameters.Choose] makes the candidates of a tree and chooses the best by each of two
// measures: the expected false-positive rate, and the false positives among the links
// next to the tree. Routers have the codewords of their links in an inpacket.DenseTable.
package lipsin

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/probe"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/multicast/inpacket"
)

// Parameters determine the codewords of links and which filters may be sent. [LIPSIN]
// returns those of the paper.
type Parameters struct {
	M    int // bits of a codeword and of a filter, 1 to MaxBits
	K    int // ones of a codeword, 1 to MaxK and at most M
	Sets int // d, codewords per link and candidates per tree, 1 to MaxSets

	// MaxFill is the largest fill ratio, above 0 and at most 1. Fuller filters are not
	// sent, and LIPSIN's routers don't forward them, so that nobody can reach all links
	// by setting all bits. The paper gives its ρ_max as about 50 to 70 %; routers of
	// inpacket drop packets above 3/4.
	MaxFill float64
}

// Limits of the parameters: those of the fields of inpacket.Header.
const (
	MaxBits = inpacket.MaxBits
	MaxK    = 15
	MaxSets = 1 << 8
)

// LIPSIN returns the paper's parameters: m = 248, k = 5 and d = 8. Of its range for the
// largest fill ratio it uses the upper end, 0.7, which allows the most links. At 0.5,
// trees of more than about 34 links can't be sent; at 0.7, those of more than about 59.
func LIPSIN() Parameters { return Parameters{M: 248, K: 5, Sets: 8, MaxFill: 0.7} }

// Check returns an error wrapping [umbel.ErrGoal] if a parameter is out of range.
func (p Parameters) Check() error {
	switch {
	case p.M < 1 || p.M > MaxBits:
		return sentinel.Errorf(umbel.ErrGoal, "lipsin: m is %d bits, want 1 to %d", p.M, MaxBits)
	case p.K < 1 || p.K > MaxK || p.K > p.M:
		return sentinel.Errorf(umbel.ErrGoal, "lipsin: k is %d, want 1 to %d", p.K, min(MaxK, p.M))
	case p.Sets < 1 || p.Sets > MaxSets:
		return sentinel.Errorf(umbel.ErrGoal, "lipsin: d is %d sets of codewords, want 1 to %d", p.Sets, MaxSets)
	case !(p.MaxFill > 0 && p.MaxFill <= 1):
		return sentinel.Errorf(umbel.ErrGoal, "lipsin: largest fill ratio %v, want above 0 and at most 1", p.MaxFill)
	}
	return nil
}

// words returns the length of a codeword in words.
func (p Parameters) words() int { return (p.M + 63) / 64 }

// Codewords returns the codewords of a link, LIPSIN's link identity tags, one of each set. Exactly K bits of
// each are ones. Codeword s is drawn with the values of the link's stream from s<<12 on, one value per bit;
// headers with seed s begin there too. It panics if p.Check fails.
func (p Parameters) Codewords(c inpacket.Codeword) []inpacket.BitString {
	if err := p.Check(); err != nil {
		panic(err)
	}
	n := p.words()
	all, sets := make(inpacket.BitString, p.Sets*n), make([]inpacket.BitString, p.Sets)
	for s := range sets {
		sets[s] = all[s*n : (s+1)*n : (s+1)*n]
		p.draw(sets[s], c, s)
	}
	return sets
}

// draw sets K of M bits, all choices with equal probability, with K values. It is Floyd's
// algorithm: if the bit drawn among the first n+1 is already set, bit n is set instead,
// which can't be set yet. (Drawing again would need a variable number of values.)
func (p Parameters) draw(bits inpacket.BitString, c inpacket.Codeword, set int) {
	stream := probe.Start(umbel.Digest{H1: c.H1, H2: c.H2}).Skip(uint64(set) << 12)
	var v uint64
	for n := p.M - p.K; n < p.M; n++ {
		v, stream = stream.Next()
		b := probe.Reduce(v, uint64(n)+1)
		if bits[b>>6]>>(b&63)&1 != 0 {
			b = uint64(n)
		}
		bits[b>>6] |= 1 << (b & 63)
	}
}

// Table returns the router table of a node with links, given by their codewords, in their order.
func (p Parameters) Table(links [][]inpacket.BitString) *inpacket.DenseTable {
	sets := make([][]inpacket.BitString, p.Sets)
	for s := range sets {
		for _, l := range links {
			sets[s] = append(sets[s], l[s])
		}
	}
	return inpacket.NewDenseTable(p.M, sets)
}
