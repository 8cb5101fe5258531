package inpacket

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/probe"
)

// Table is the codewords of a node's links in one epoch, laid out for decisions. It
// takes 48 bytes a link, and may be asked by any number of goroutines.
type Table struct {
	codewords []Codeword
	folded    []foldedLink
}

// NewTable returns the table of a node whose link i has codeword cs[i].
func NewTable(cs []Codeword) *Table {
	t := &Table{append([]Codeword(nil), cs...), make([]foldedLink, len(cs))}
	for i, c := range cs {
		c.AppendPositions(t.folded[i][:0], 0, maxK, FoldBase)
	}
	return t
}

// maxK is the largest number of positions a link.
const maxK = 15

// Len returns the number of links.
func (t *Table) Len() int { return len(t.codewords) }

// Match asks h's filter for every link of the table: bit i of dst, which is bit i&63
// of word i>>6, says whether it holds link i. It writes ⌈Len/64⌉ words of dst and
// panics if there are fewer. The time depends on the header and the number of links,
// but not on which of them match; nothing is allocated.
//
// Of a Staged header it asks the stage of h.TTL. It holds no link if there is no such
// stage, or if h is Dense, which a [DenseTable] answers, or isn't as its fields'
// comments say. TTL, epoch and fill (see [Header.Overfull]) are for the caller to
// judge.
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
	case Linear:
		t.matchLinear(dst, h)
	default:
		t.none(dst)
	}
}

// none says of no link that it matches.
func (t *Table) none(dst []uint64) { clear(dst[:words(t.Len())]) }

// words is the number of words that n bits take.
func words(n int) int { return (n + 63) >> 6 }

// streamOf returns the stream of c, moved by an offset.
func streamOf(c Codeword, offset umbel.Digest) probe.Stream {
	return probe.Start(umbel.Digest{H1: c.H1 + offset.H1, H2: c.H2 + offset.H2})
}
