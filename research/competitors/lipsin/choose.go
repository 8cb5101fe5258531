package lipsin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel/multicast/inpacket"
)

// Candidate is the filter of a tree with one set of codewords.
type Candidate struct {
	Set    int                // the number of the codewords: the header's seed
	Bits   int                // M of the parameters
	Filter inpacket.BitString // the OR of the tree's codewords
	Ones   int                // number of ones in Filter
	Fill   float64            // fill ratio, LIPSIN's ρ
	Rate   float64            // probability that a link outside the tree matches: [Parameters.Rate] of Ones
	False  int                // number of false positives among the links next to the tree
}

// Candidates returns the filters of a tree, one for each set of codewords, in order. tree
// are the links of the tree; others are the links next to it, among which False is
// counted. It ignores MaxFill. Links are given by their [Parameters.Codewords].
func (p Parameters) Candidates(tree, others [][]inpacket.BitString) []Candidate {
	all := make([]Candidate, p.Sets)
	filters := make([]uint64, p.Sets*p.words())
	for s := range all {
		filter := filters[:p.words():p.words()]
		filters = filters[p.words():]
		for _, l := range tree {
			for w, word := range l[s] {
				filter[w] |= word
			}
		}
		c := Candidate{Set: s, Bits: p.M, Filter: filter}
		for _, word := range filter {
			c.Ones += bits.OnesCount64(word)
		}
		for _, l := range others {
			if c.holds(l[s]) {
				c.False++
			}
		}
		c.Fill = float64(c.Ones) / float64(p.M)
		c.Rate = p.Rate(c.Ones)
		all[s] = c
	}
	return all
}

// holds reports whether l matches. It has no early return, because mispredicted branches
// cost more than the words.
func (c *Candidate) holds(l inpacket.BitString) bool {
	var missing uint64
	for w, word := range l {
		missing |= word &^ c.Filter[w]
	}
	return missing == 0
}

// Put writes the filter into a header: form, K, seed, bits and filter. It leaves the
// other fields unchanged.
func (c *Candidate) Put(h *inpacket.Header) {
	b := make([]byte, 0, 8*len(c.Filter))
	for _, word := range c.Filter {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	h.Form, h.K, h.Seed, h.Bits, h.Filter = inpacket.Dense, 0, uint16(c.Set), c.Bits, b[:(c.Bits+7)/8]
}

// ErrOverfull means that all candidates of a tree are fuller than MaxFill: the tree has
// too many links for one filter.
var ErrOverfull = errors.New("filter over-full")

// Choice is the best candidate by each of LIPSIN's two measures.
type Choice struct {
	// ByRate has the lowest expected false-positive rate, LIPSIN's fpa. A sender that
	// knows only the tree uses it.
	ByRate Candidate
	// ByTests has the fewest false positives among the links next to the tree, LIPSIN's
	// fpr, and among equals the lowest rate.
	ByTests Candidate
}

// Choose returns the best candidates of a tree among those that are at most as full as
// MaxFill; see [Parameters.Candidates]. Among equals it returns the first. It returns an
// error wrapping [ErrOverfull] if all are too full, or the error of Check.
func (p Parameters) Choose(tree, others [][]inpacket.BitString) (Choice, error) {
	if err := p.Check(); err != nil {
		return Choice{}, err
	}
	var best Choice
	found := false
	least := p.M
	for _, c := range p.Candidates(tree, others) {
		least = min(least, c.Ones)
		if c.Fill > p.MaxFill {
			continue
		}
		if !found || c.Ones < best.ByRate.Ones {
			best.ByRate = c
		}
		if !found || c.False < best.ByTests.False || c.False == best.ByTests.False && c.Ones < best.ByTests.Ones {
			best.ByTests = c
		}
		found = true
	}
	if !found {
		return Choice{}, fmt.Errorf("lipsin: %d links set at least %d of %d bits, want a fill ratio of at most %v; split the tree or use more bits: %w",
			len(tree), least, p.M, p.MaxFill, ErrOverfull)
	}
	return best, nil
}

// Rate returns the probability, in [0, 1], that a filter with the given number of ones
// matches a link that was not added: ρ^k, where ρ is the fill ratio, the fpa of Jokela et
// al. 2009. It treats the k bits of a codeword as independent. They are distinct, so
// [Parameters.ExactRate] is a little lower.
func (p Parameters) Rate(ones int) float64 {
	return math.Pow(float64(ones)/float64(p.M), float64(p.K))
}

// ExactRate returns the probability, in [0, 1], that all k bits of a codeword are among
// the ones of a filter: C(ones, k) / C(m, k), since the bits of a codeword are distinct.
// At m = 248, k = 5 and a fill ratio of 1/2 it is 0.0300, where Rate returns 0.03125.
func (p Parameters) ExactRate(ones int) float64 {
	rate := 1.0
	for i := range p.K {
		rate *= float64(max(0, ones-i)) / float64(p.M-i)
	}
	return rate
}

// ExpectedFill returns the expected fill ratio, in [0, 1), of a filter with the given
// number of links: 1 - (1 - k/m)^links, since each link leaves a bit zero with
// probability 1 - k/m.
func (p Parameters) ExpectedFill(links int) float64 {
	return 1 - math.Pow(1-float64(p.K)/float64(p.M), float64(links))
}
