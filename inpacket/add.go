package inpacket

import (
	"errors"
	"fmt"
)

// Or adds a link to the filter of a Single or Folded header, which then holds those
// it held and this one. It writes into h.Filter, which a parsed header shares with
// its packet: so a router can send a packet round a broken link. Other forms give
// an error that wraps errors.ErrUnsupported, and a header that isn't as its fields'
// comments say one that wraps [ErrMalformed]; the filter is then as it was.
func (h *Header) Or(c Codeword) error {
	if h.Form != Single && h.Form != Folded {
		return fmt.Errorf("inpacket: add a link to a filter of form %d, want %d or %d: %w", h.Form, Single, Folded, errors.ErrUnsupported)
	}
	if err := h.check(); err != nil {
		return err
	}
	var at [15]uint16
	for _, p := range c.AppendPositions(at[:0], uint32(h.Seed), h.K, h.Bits) {
		h.Filter[p>>3] |= 1 << (p & 7)
	}
	return nil
}

// OrDense adds a link by its stored codeword to the filter of a Dense header: the
// first h.Bits bits of it. It fails as Or does, and if the codeword is shorter.
func (h *Header) OrDense(c BitString) error {
	if h.Form != Dense {
		return fmt.Errorf("inpacket: add a stored codeword to a filter of form %d, want %d: %w", h.Form, Dense, errors.ErrUnsupported)
	}
	if err := h.check(); err != nil {
		return err
	}
	if len(c)*64 < h.Bits {
		return malformed("a codeword of %d bits for a filter of %d", len(c)*64, h.Bits)
	}
	for i := range h.Filter {
		b := byte(c[i>>3] >> ((i & 7) * 8))
		if left := h.Bits - i*8; left < 8 {
			b &= 1<<left - 1
		}
		h.Filter[i] |= b
	}
	return nil
}
