package delta

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/internal/format"
)

// Info is the head of a delta.
type Info struct {
	Base, Result Prefix // of the IDs of the two states
	Kind         string // of both
	Bytes        uint64 // memory of the arrays of the result; 0 if the delta states that it is that of the base
}

// Prefix is the beginning of the ID of a state, by which a delta names it: 4 bytes for the base and 8 for the result, and all 32
// for both in a delta of version 1.
//
// Another state than the base is accepted with a probability of 2^-96: its ID has the same 4 bytes, and the result that the
// delta makes of it has the same 8. To find such a state takes 2^96 attempts. Who also chooses the base and the changes finds two
// bases for one delta in 2^48 attempts. If that matters, compare the whole ID of the result with one from the sender, as
// the head of a publication has it (package share).
type Prefix string

// The bytes of prefixes in a short delta.
const (
	baseBytes   = 4
	resultBytes = 8
)

// Begins reports whether id begins with p.
func (p Prefix) Begins(id wire.ID) bool { return strings.HasPrefix(string(id[:]), string(p)) }

// String returns p in hexadecimal digits.
func (p Prefix) String() string { return hex.EncodeToString([]byte(p)) }

// digits returns the first 8 hexadecimal digits.
func (p Prefix) digits() string { return p.String()[:8] }

// header is Info, and where the change is.
type header struct {
	Info
	change  int  // its first byte
	short   bool // version 2
	regular bool // the change is a regular one: see writer.regular
}

// MagicBytes is the number of bytes that [Is] needs.
const MagicBytes = len(format.DeltaMagic)

// Is reports whether b begins like a delta of any version.
func Is(b []byte) bool {
	return strings.HasPrefix(string(b[:min(len(b), MagicBytes)]), format.DeltaMagic[:MagicBytes-1]) || format.IsShort(b, format.ShortDeltaMagic)
}

// Inspect returns the head of a delta, for programs that store or forward
// deltas. It checks the whole message for damage, but not whether it can be applied. Its
// error wraps umbel.ErrCorrupt, and also errors.ErrUnsupported if the version is unknown.
func Inspect(delta []byte) (Info, error) {
	h, err := inspect(delta)
	return h.Info, err
}

func inspect(delta []byte) (h header, err error) {
	h.short = format.IsShort(delta, format.ShortDeltaMagic)
	magic := format.DeltaMagic
	if h.short {
		magic = format.ShortDeltaMagic
	}
	switch last := len(magic) - 1; {
	case wire.Is(delta):
		return h, sentinel.Errorf(umbel.ErrCorrupt, "want a delta, this is a container")
	case !Is(delta):
		return h, sentinel.Errorf(umbel.ErrCorrupt, "want a delta, which begins with %q or %q, this begins with %q",
			format.DeltaMagic, format.ShortDeltaMagic, delta[:min(len(delta), MagicBytes)])
	case len(delta) < len(magic)+format.SumBytes:
		return h, cutOff(delta)
	case delta[last] != magic[last]:
		return h, sentinel.Errorf(umbel.ErrCorrupt, "version %d, written by a later version of umbel; this program reads versions %d and %d: %w",
			delta[last], format.DeltaMagic[MagicBytes-1], format.ShortDeltaMagic[len(format.ShortDeltaMagic)-1], errors.ErrUnsupported)
	}
	end := len(delta) - format.SumBytes
	if got, want := binary.LittleEndian.Uint32(delta[end:]), format.Checksum(delta[:end]); got != want {
		return h, sentinel.Errorf(umbel.ErrCorrupt, "checksum %08x, want %08x: the delta is damaged", got, want)
	}
	r := format.NewReader(delta[len(magic):end], uint64(len(magic)), format.Budget{})
	if err := h.read(r); err != nil {
		return h, fmt.Errorf("byte %d: %w", r.Off, err)
	}
	h.change = int(r.Off)
	return h, nil
}

// read reads the fields between the magic and the change.
func (h *header) read(r *format.Reader) (err error) {
	base, result := len(wire.ID{}), len(wire.ID{})
	if h.short {
		base, result = baseBytes, resultBytes
	}
	if h.Base, err = prefix(r, base); err != nil {
		return err
	}
	if h.Result, err = prefix(r, result); err != nil {
		return err
	}
	if !h.short {
		if h.Bytes, err = r.Number(); err == nil {
			h.Kind, err = r.Name()
		}
		return err
	}
	var general bool
	if h.Kind, general, err = r.ShortKind(); err != nil || !general {
		h.regular = err == nil
		return err
	}
	h.Bytes, err = r.Uvarint()
	return err
}

func prefix(r *format.Reader, n int) (Prefix, error) {
	b, err := r.Next(n)
	return Prefix(b), err
}

func cutOff(delta []byte) error {
	return sentinel.Errorf(umbel.ErrCorrupt, "the delta ends after %d bytes, more are missing", len(delta))
}
