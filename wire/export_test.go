package wire

import (
	"bytes"
	"io"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire/internal/block"
	"github.com/umbel-filters/umbel/wire/internal/format"
)

// Canonical returns the canonical container of s.
func Canonical(s umbel.State) []byte {
	var w bytes.Buffer
	_ = writeContainer(&w, s, format.Unpacked(block.Canonical))
	return w.Bytes()
}

// The functions whose names end in Within have a limit instead of DefaultBytes.

func AppendReadableWithin(dst []byte, s umbel.State, limit uint64) ([]byte, error) {
	return appendBlocks(dst, s, readable(s, limit))
}

func ParseWithin(b []byte, limit uint64) (umbel.State, error) { return parse(b, Limits{}, limit) }

func ReadWithin(r io.Reader, limit uint64) (umbel.State, error) {
	return read(r, Limits{}, limit, nil)
}
