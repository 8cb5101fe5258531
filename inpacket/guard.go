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
