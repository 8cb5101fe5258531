package um

import (
	"errors"
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// find returns a filter, or replies an error.
func (u *um) find(c *resp.Conn, name []byte) *engine.Filter {
	f := u.engine.Get(name)
	if f == nil {
		command.Fail(c, u.missing(name))
	}
	return f
}

// missing returns the error for a name without a filter.
func (u *um) missing(name []byte) error {
	return fmt.Errorf("%w: %s", u.engine.CheckAbsent(), command.Quote(name))
}

// completeFilter returns a complete filter. What is derived from an incomplete one would miss
// keys.
func (u *um) completeFilter(name []byte) (*engine.Filter, error) {
	f := u.engine.Get(name)
	if f == nil {
		return nil, u.missing(name)
	}
	if err := f.CheckComplete(); err != nil {
		return nil, fmt.Errorf("%s: %w", command.Quote(name), err)
	}
	return f, nil
}

// number replies a parameter of a filter.
func number(c *resp.Conn, n umbel.Number) {
	switch {
	case n.IsFloat():
		c.Double(n.Float())
	case n.Bits() > math.MaxInt64:
		c.BulkString(n.String())
	default:
		c.Int(int64(n.Bits()))
	}
}

// fieldInt replies a word and a whole number as an element of a map.
func fieldInt(c *resp.Conn, name string, n uint64) {
	c.BulkString(name)
	number(c, umbel.Uint(n))
}

// fieldShare replies a word and a fraction or an estimate.
func fieldShare(c *resp.Conn, name string, f float64) {
	c.BulkString(name)
	c.Double(f)
}

// fieldText replies a word and a text.
func fieldText(c *resp.Conn, name, s string) {
	c.BulkString(name)
	c.BulkString(s)
}

// hintKinds adds to the error of an operation that the kind does not support how to list those that do.
func hintKinds(err error) error {
	if errors.Is(err, errors.ErrUnsupported) {
		err = fmt.Errorf("%w; UM.KINDS lists the abilities of kinds", err)
	}
	return err
}
