package inpacket

import (
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/probe"
)

// Table contains the codewords of a node's links in one epoch, arranged for fast queries.
// It takes 48 bytes per link. It is safe for concurrent use.
type Table struct {
	codewords []Codeword
	folded    []foldedLink
}

// NewTable returns the table of a node whose link i has codeword cs[i]. It copies cs.
func NewTable(cs []Codeword) *Table {
	t := &Table{append([]Codeword(nil), cs...), make([]foldedLink, len(cs))}
	for i, c := range cs {
		c.AppendPositions(t.folded[i][:0], 0, maxK, FoldBase)
	}
	return t
}

// maxK is the largest number of positions per link.
const maxK = 15

// Len returns the number of links.
func (t *Table) Len() int { return len(t.codewords) }

// Match queries the filter of h for each link of the table. It sets bit i of dst, which
// is bit i&63 of word i>>6, if the filter contains link i, and clears it otherwise. It
// writes ⌈Len/64⌉ words of dst and panics if dst is shorter. The time depends on the
// header and the number of links, but not on which links match. Match does not allocate.
//
// For a Staged header it queries the stage for h.TTL. No link matches if that stage
// doesn't exist, if h is Dense (see [DenseTable]), or if h is not valid. The caller
// checks TTL, epoch and fill ratio (see [Header.Overfull]).
func (t *Table) Match(dst []uint64, h *Header) {
	if h.Bits < 1 || h.Bits > MaxBits || len(h.Filter) != (h.Bits+7)>>3 || h.K > maxK {
		t.none(dst)
		return
	}
	switch h.Form {
	case Single:
		t.matchBits(dst, h.Filter, 0, h.Bits, uint32(h.Seed), int(h.K))
	case Staged:
		t.matchStage(dst, h)
	case Folded:
		t.matchFolded(dst, h)
	case Linear, Deep, Complement:
		t.matchSections(dst, h)
	default:
		t.none(dst)
	}
}

// none clears the bits of all links.
func (t *Table) none(dst []uint64) { clear(dst[:words(t.Len())]) }

// words returns the number of words that contain n bits.
func words(n int) int { return (n + 63) >> 6 }

// streamOf returns the stream of c, advanced by an offset.
func streamOf(c Codeword, offset umbel.Digest) probe.Stream {
	return probe.Start(umbel.Digest{H1: c.H1 + offset.H1, H2: c.H2 + offset.H2})
}

// Ones returns the number of ones in the filter.
func (h *Header) Ones() int { return ones(h.Filter, 0, h.Bits) }

// AllOnes reports whether every bit of the filter is one. Such a filter contains every
// link. Routers drop such packets, and senders never make them.
func (h *Header) AllOnes() bool { return h.Ones() == h.Bits }

// Overfull reports whether more than three quarters of the filter's bits are ones, or of
// the bits of any stage of a Staged filter, or whether a section of a Complement has no
// ones. Routers drop such packets and senders never make them, so that nobody can reach
// all links by setting all bits, or none. (Särelä et al. 2011 call the limit a filter's
// maximum fill.)
func (h *Header) Overfull() bool {
	if h.Form != Staged {
		return overfull(h.Ones(), h.Bits) || h.Form == Complement && h.emptySection()
	}
	for at := 0; ; {
		s, ok := stageAt(h.Filter, h.Bits, at)
		if !ok {
			return false
		}
		if overfull(ones(h.Filter, s.first, s.bits), s.bits) {
			return true
		}
		at = s.first + s.bits
	}
}

// FalseMatch returns the probability, in [0, 1], that the filter matches a link that was
// not added, for a router that sees h.TTL. A filter made without keys matches about this
// share of all links, so routers may limit it. For a Staged filter it is the probability
// of the stage for the TTL, or 0 if that stage doesn't exist. The codewords of Dense are
// not known from the header; for Dense it is the fill ratio, which is an upper bound.
func (h *Header) FalseMatch() float64 {
	switch h.Form {
	case Linear, Deep, Complement:
		sections, _ := Sections(h.Form, h.K, h.Bits)
		return falseMatchIn(h.Form, sections)
	case Dense:
		return falseMatchOf(h.Ones(), h.Bits, 1)
	case Staged:
		for at, t := 0, h.TTL; t > 0; t-- {
			s, ok := stageAt(h.Filter, h.Bits, at)
			if !ok {
				break
			}
			if t == 1 {
				return falseMatchOf(ones(h.Filter, s.first, s.bits), s.bits, int(h.K))
			}
			at = s.first + s.bits
		}
		return 0
	}
	return falseMatchOf(h.Ones(), h.Bits, int(h.K))
}

// falseMatchIn returns the probability that a filter of a form with sections matches a link
// that was not added.
func falseMatchIn(f Form, sections int) float64 {
	odd := 1 / float64(int(1)<<sections)
	if f == Complement {
		return 1 - odd
	}
	return odd
}

// overfull reports whether a filter or a stage of m bits with this number of ones is too
// full.
func overfull(ones, m int) bool { return 4*ones > 3*m }

// ones returns the number of ones among m bits of a filter from bit at on.
func ones(filter []byte, at, m int) int {
	n := 0
	for end := at + m; at < end; at += 64 {
		w := load(filter, at)
		if left := end - at; left < 64 {
			w &= 1<<left - 1
		}
		n += bits.OnesCount64(w)
	}
	return n
}
