package inpacket

import (
	"math/bits"

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

// Ones returns how many bits of the filter are one.
func (h *Header) Ones() int { return ones(h.Filter, 0, h.Bits) }

// AllOnes reports whether every bit of the filter is one, so that it would hold
// every link. Routers drop such packets, and senders make none.
func (h *Header) AllOnes() bool { return h.Ones() == h.Bits }

// Overfull reports whether more than three quarters of the filter's bits are one;
// of a Staged filter, of those of any of its stages. Routers drop such packets, and
// senders make none: nobody is to reach all links by setting all bits. (Särelä et
// al. 2011 call the limit a filter's maximum fill.)
func (h *Header) Overfull() bool {
	if h.Form != Staged {
		return overfull(h.Ones(), h.Bits)
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

// Stray returns the chance, in [0, 1], that the filter holds a link which nobody put
// there, as routers ask it that see h.TTL. What somebody without keys can make goes
// out on that share of the links it meets; so routers may bound it. Of a Staged filter it
// is that of the stage for the TTL, 0 if there is none; of Dense, whose codewords aren't
// known from the header, the fill, which is more than the chance unless codewords
// have but one bit.
func (h *Header) Stray() float64 {
	switch h.Form {
	case Linear:
		planes, _ := LinearPlanes(h.K, h.Bits)
		return 1 / float64(int(1)<<planes)
	case Dense:
		return strayOf(h.Ones(), h.Bits, 1)
	case Staged:
		for at, t := 0, h.TTL; t > 0; t-- {
			s, ok := stageAt(h.Filter, h.Bits, at)
			if !ok {
				break
			}
			if t == 1 {
				return strayOf(ones(h.Filter, s.first, s.bits), s.bits, int(h.K))
			}
			at = s.first + s.bits
		}
		return 0
	}
	return strayOf(h.Ones(), h.Bits, int(h.K))
}

// overfull is the limit for a filter, or a stage, of m bits.
func overfull(ones, m int) bool { return 4*ones > 3*m }

// ones counts the ones among m bits of a filter from bit at on.
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
