package scheme

import (
	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/multicast"
)

// stored makes codewords that routers store, and keeps those it has made: planners
// ask for the same ones again and again.
type stored struct {
	bits, sets int
	draw       func(c inpacket.Codeword, set int) inpacket.BitString
	made       map[inpacket.Codeword][]inpacket.BitString
}

func newStored(bits, sets int, draw func(inpacket.Codeword, int) inpacket.BitString) *stored {
	return &stored{bits, sets, draw, map[inpacket.Codeword][]inpacket.BitString{}}
}

// of returns the codewords of a link, one of each set.
func (s *stored) of(c inpacket.Codeword) []inpacket.BitString {
	all, ok := s.made[c]
	if !ok {
		for set := range s.sets {
			all = append(all, s.draw(c, set))
		}
		s.made[c] = all
	}
	return all
}

// replace puts stored codewords in the place of those they are made from.
func (s *stored) replace(k *multicast.Keys) {
	k.DenseBits = s.bits
	k.Dense = make([][]inpacket.BitString, s.sets)
	for set := range k.Dense {
		k.Dense[set] = make([]inpacket.BitString, 0, len(k.Ports))
		for _, c := range k.Ports {
			k.Dense[set] = append(k.Dense[set], s.of(c)[set])
		}
	}
	k.Ports = nil
	for i := range k.Detours {
		d := &k.Detours[i]
		if d.Hops == 0 {
			continue
		}
		d.Dense = make([]inpacket.BitString, s.sets)
		for set := range d.Dense {
			d.Dense[set] = s.union(d.Arcs, set)
		}
		d.Arcs = nil
	}
}

// union returns the OR of links' codewords of a set.
func (s *stored) union(links []inpacket.Codeword, set int) inpacket.BitString {
	u := make(inpacket.BitString, (s.bits+63)/64)
	for _, c := range links {
		for w, v := range s.of(c)[set] {
			u[w] |= v
		}
	}
	return u
}
