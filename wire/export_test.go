package wire

import (
	"bytes"

	"github.com/umbel-filters/umbel"
)

// Canonical returns the canonical container of s.
func Canonical(s umbel.State) []byte {
	var w bytes.Buffer
	e := encoder{w: &w, blocks: each(canonical)}
	e.container(s)
	return w.Bytes()
}
