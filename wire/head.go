package wire

import (
	"strings"

	"github.com/umbel-filters/umbel/wire/internal/format"
)

// MagicBytes is the number of bytes that [Is] needs.
const MagicBytes = len(format.Magic)

// Is reports whether b begins like a container of any version.
func Is(b []byte) bool {
	return strings.HasPrefix(string(b[:min(len(b), MagicBytes)]), format.Magic[:MagicBytes-1]) || format.IsShort(b, format.ShortMagic)
}

// KindBytes is the number of bytes that [KindOf] needs at most.
const KindBytes = MagicBytes + 1 + 64

// KindOf returns the kind of the container that begins with b, and false if b is too short, or doesn't begin like a
// container of a known version.
func KindOf(b []byte) (kind string, ok bool) {
	kind, err := format.Kind(b)
	return kind, err == nil
}
