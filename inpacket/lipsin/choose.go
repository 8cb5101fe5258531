package lipsin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
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

// ErrOverfull says that of all candidates of a tree more bits are one than the
// design allows: the tree has too many links for one filter.
var ErrOverfull = errors.New("filter over-full")

// Choice is the best candidate by each of LIPSIN's two measures.
type Choice struct {
	// ByRate has the lowest expected rate of false positives, LIPSIN's fpa: what a
	// sender takes that knows the tree alone.
	ByRate Candidate
	// ByTests is false on the fewest of the links known next to the tree, LIPSIN's
	// fpr, and among those has the lowest rate.
	ByTests Candidate
}

// Choose makes a tree's candidates and chooses among those that aren't fuller than
// MaxFill; see [Design.Candidates]. The first of equals is taken. The error is
// ErrOverfull if there are none, or says what is wrong with the design.
func (d Design) Choose(tree, others []Link) (Choice, error) {
	if err := d.Check(); err != nil {
		return Choice{}, err
	}
	var best Choice
	found := false
	least := d.M
	for _, c := range d.Candidates(tree, others) {
		least = min(least, c.Ones)
		if c.Fill > d.MaxFill {
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
		return Choice{}, fmt.Errorf("lipsin: %d links set at least %d of %d bits, at most %v may be: split the tree, or take more bits: %w",
			len(tree), least, d.M, d.MaxFill, ErrOverfull)
	}
	return best, nil
}

// Rate returns the chance, in [0, 1], that a filter with so many ones holds a link
// that wasn't added: ρ^k, where ρ is the fraction of ones, the fpa of Jokela et al.
// 2009. It takes the k bits of a codeword as independent; as they differ,
// [Design.ExactRate] is a little lower.
func (d Design) Rate(ones int) float64 {
	return math.Pow(float64(ones)/float64(d.M), float64(d.K))
}

// ExactRate returns the chance, in [0, 1], that all k bits of a codeword are among
// so many ones: C(ones, k) / C(m, k), since a codeword's bits differ. At m = 248,
// k = 5 and half the bits one it is 0.0300, where Rate is 0.03125.
func (d Design) ExactRate(ones int) float64 {
	rate := 1.0
	for i := range d.K {
		rate *= float64(max(0, ones-i)) / float64(d.M-i)
	}
	return rate
}

// ExpectedFill returns the fraction of ones, in [0, 1), to be expected of a filter
// of so many links: 1 - (1 - k/m)^links, each link leaving a bit zero with odds
// 1 - k/m.
func (d Design) ExpectedFill(links int) float64 {
	return 1 - math.Pow(1-float64(d.K)/float64(d.M), float64(links))
}
