package row

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/probe"
)

// head is what it takes to look at the first bits of a key in a layer. The layers'
// streams are one: its values are computed once for the row, and only the layers
// with these bits set, one in eight when half full, are asked for the others.
type head struct {
	words  []uint64
	groups uint64
	stride uint64 // words from one slice to the next
	bits   probe.Bits
}

// looks is the number of bits of a head: with two, misses took 1.3 times as long.
const looks = 3

// headsOf returns the heads of layers, the newest first, or none if one of them has
// fewer bits a key, or groups that aren't words.
func headsOf(layers []Layer, all []probe.Bits) []head {
	var heads []head
	for i := len(layers) - 1; i >= 0; i-- {
		l := layers[i]
		if l.Mapping.Log != probe.WordLog || l.K < looks {
			return nil
		}
		h := head{words: l.Cells.Words, groups: l.Mapping.Groups, bits: all[i]}
		if l.Sliced {
			h.stride = h.groups
		}
		heads = append(heads, h)
	}
	return heads
}

// anyHas reports whether one of the layers has d.
func anyHas(heads []head, d umbel.Digest) bool {
	s := probe.Start(d)
	u, s := s.Next()
	v, s := s.Next()
	w, _ := s.Next()
	for i := range heads {
		h := &heads[i]
		set := h.words[probe.Reduce(u, h.groups)] >> (u & 63)
		set &= h.words[h.stride+probe.Reduce(v, h.groups)] >> (v & 63)
		set &= h.words[2*h.stride+probe.Reduce(w, h.groups)] >> (w & 63)
		if set&1 != 0 && h.bits.Has(d) {
			return true
		}
	}
	return false
}
