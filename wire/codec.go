package wire

import (
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel/cells"
)

// codec codes blocks and decodes payloads. It keeps memory from one to the next,
// and serves one goroutine at a time.
type codec struct {
	payload []byte
}

// append appends a block in the coding that takes the fewest bytes, and returns
// that coding. Raw wins where others take as many.
func (c *codec) append(dst []byte, b cells.Array) ([]byte, byte) {
	k := plain(b)
	dst = append(dst, k)
	if k == raw {
		dst = appendWords(dst, b.Words)
	}
	return dst, k
}

// decode sets the cells of a block to those in a payload.
func (c *codec) decode(b cells.Array, coding byte, payload []byte) error {
	return fmt.Errorf("coding %d: %w", coding, errors.ErrUnsupported)
}
