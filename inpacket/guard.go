package inpacket

import "math/bits"

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
