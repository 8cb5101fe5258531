package command

import (
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
	"github.com/umbel-filters/umbel/wire"
)

// Fits returns an error wrapping umbel.ErrLimit unless n bytes can be replied to the client.
func Fits(c *resp.Conn, n uint64) error {
	if most := c.MaxReply(); n > uint64(most) {
		return fmt.Errorf("the container has %d bytes and a reply at most %d; get it over HTTP: %w", n, most, umbel.ErrLimit)
	}
	return nil
}

// Container returns the canonical container of a filter.
func Container(c *resp.Conn, f *engine.Filter) (b []byte, err error) {
	gone := f.View(func(f umbel.Filter) { err = Fits(c, wire.Size(f.State())) }) // before a copy is made
	if err := errors.Join(gone, err); err != nil {
		return nil, err
	}
	gone = f.Inspect(func(f umbel.Filter) { b, err = wire.Append(nil, f.State()) })
	return b, errors.Join(gone, err)
}

// Bytes returns a function that returns the sum of the bytes of the filters that a call names, for
// resp.Command.Long.
func Bytes(e *engine.Engine, cmd *resp.Command) func(args [][]byte) uint64 {
	return func(args [][]byte) (n uint64) {
		cmd.Keys(args, func(name []byte) bool {
			if f := e.Get(name); f != nil {
				n += f.Bytes()
			}
			return true
		})
		return n
	}
}
