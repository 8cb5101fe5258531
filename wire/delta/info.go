package delta

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/internal/format"
)

// Info is the head of a delta.
type Info struct {
	Base, Result wire.ID // of the two states
	Kind         string  // of both
	Bytes        uint64  // memory of the arrays of the result
}

// The fields before the change, at fixed offsets up to the name of the kind.
const (
	baseAt    = len(format.DeltaMagic)
	resultAt  = baseAt + len(wire.ID{})
	bytesAt   = resultAt + len(wire.ID{})
	kindAt    = bytesAt + 8
	headBytes = kindAt + 1 // and the name
)

// MagicBytes is the number of bytes that [Is] needs.
const MagicBytes = len(format.DeltaMagic)

// Is reports whether b begins like a delta of any version.
func Is(b []byte) bool {
	return len(b) >= MagicBytes && string(b[:MagicBytes-1]) == format.DeltaMagic[:MagicBytes-1]
}

// Inspect returns the head of a delta, which is what a program needs that stores or forwards
// deltas. It checks the whole message for damage, but not whether it can be applied. Its
// error wraps umbel.ErrCorrupt, and also errors.ErrUnsupported if the version is unknown.
func Inspect(delta []byte) (Info, error) {
	var i Info
	const last = MagicBytes - 1
	switch {
	case strings.HasPrefix(string(delta[:min(len(delta), last)]), format.Magic[:last]):
		return i, fmt.Errorf("delta: want a delta, this is a container: %w", umbel.ErrCorrupt)
	case !Is(delta):
		return i, fmt.Errorf("delta: want a delta, which begins with %q, this begins with %q: %w",
			format.DeltaMagic, delta[:min(len(delta), MagicBytes)], umbel.ErrCorrupt)
	case delta[last] != format.DeltaMagic[last]:
		return i, fmt.Errorf("delta: version %d, this program reads version %d: %w: %w",
			delta[last], format.DeltaMagic[last], errors.ErrUnsupported, umbel.ErrCorrupt)
	case len(delta) < headBytes+format.SumBytes:
		return i, cutOff(delta)
	}
	end := len(delta) - format.SumBytes
	if got, want := binary.LittleEndian.Uint32(delta[end:]), format.Checksum(delta[:end]); got != want {
		return i, fmt.Errorf("delta: checksum %08x, want %08x: the delta is damaged: %w", got, want, umbel.ErrCorrupt)
	}
	i.Base, i.Result = wire.ID(delta[baseAt:resultAt]), wire.ID(delta[resultAt:bytesAt])
	i.Bytes = binary.LittleEndian.Uint64(delta[bytesAt:])
	kindEnd := headBytes + int(delta[kindAt])
	if kindEnd > end {
		return i, cutOff(delta)
	}
	i.Kind = string(delta[headBytes:kindEnd])
	if err := umbel.CheckName(i.Kind); err != nil {
		return i, fmt.Errorf("delta: %w", err)
	}
	return i, nil
}

func cutOff(delta []byte) error {
	return fmt.Errorf("delta: the delta ends after %d bytes, more are missing: %w", len(delta), umbel.ErrCorrupt)
}
