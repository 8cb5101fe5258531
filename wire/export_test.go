package wire

import (
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire/internal/format"
)

// The functions whose names end in Within have a limit instead of DefaultBytes.

func AppendWithin(dst []byte, s umbel.State, limit uint64) ([]byte, error) {
	return appendWithin(dst, s, limit)
}

func ParseWithin(b []byte, limit uint64) (umbel.State, error) {
	return parse(b, Limits{}, limit, format.Mode{})
}

func ReadWithin(r io.Reader, limit uint64) (umbel.State, error) { return read(r, Limits{}, limit) }
