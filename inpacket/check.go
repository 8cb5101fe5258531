package inpacket

import (
	"errors"
	"fmt"
)

// Sentinels, to be tested with errors.Is. The errors that wrap them say what was
// wrong. What a form can't do wraps errors.ErrUnsupported instead.
var (
	// ErrVersion: the header is of a version that this package doesn't know.
	ErrVersion = errors.New("unknown version")
	// ErrMalformed: the header is none, is cut off, or holds what no sender writes.
	ErrMalformed = errors.New("malformed header")
)

func malformed(format string, a ...any) error {
	return fmt.Errorf("inpacket: "+format+": %w", append(a, ErrMalformed)...)
}

func cut(have, want int) error {
	return malformed("%d bytes, want at least %d", have, want)
}

// check returns an error unless h is as its fields' comments say.
func (h *Header) check() error {
	if h.Bits < 1 || h.Bits > MaxBits {
		return malformed("a filter of %d bits, want 1 to %d", h.Bits, MaxBits)
	}
	if want := (h.Bits + 7) >> 3; len(h.Filter) != want {
		return malformed("a filter of %d bytes for %d bits, want %d", len(h.Filter), h.Bits, want)
	}
	if used := h.Bits & 7; used != 0 && h.Filter[len(h.Filter)-1]>>used != 0 {
		return malformed("last byte %#x of a filter of %d bits, want zeros from bit %d on", h.Filter[len(h.Filter)-1], h.Bits, used)
	}
	if !h.Sequenced && h.Source|h.Sequence != 0 {
		return malformed("source %d and sequence %d in a packet without: set Sequenced", h.Source, h.Sequence)
	}
	if h.Trace != nil && (h.Trace.Capacity < 0 || h.Trace.Capacity > 255 || len(h.Trace.Nodes) > h.Trace.Capacity) {
		return malformed("a trace of %d nodes with room for %d, want room for them and at most 255", len(h.Trace.Nodes), h.Trace.Capacity)
	}
	return h.checkForm()
}

func (h *Header) checkForm() error {
	if h.K > 15 {
		return malformed("K is %d, want at most 15", h.K)
	}
	switch h.Form {
	case Single, Staged, Folded:
		if h.K == 0 {
			return malformed("K is 0, want 1 to 15")
		}
	case Linear:
	case Dense:
		if h.K != 0 {
			return malformed("K is %d in a filter of stored codewords, want 0", h.K)
		}
	default:
		return malformed("form %d, want 0 to %d", h.Form, Dense)
	}
	if h.Form == Folded {
		if h.Seed != 0 {
			return malformed("seed %d in a folded filter, want 0", h.Seed)
		}
		if FoldBase%h.Bits != 0 {
			return malformed("a folded filter of %d bits, want a divisor of %d", h.Bits, FoldBase)
		}
	}
	if h.Form == Staged {
		return checkStages(h.Filter, h.Bits)
	}
	return nil
}
