package um

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/refusal"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

// find returns a filter, and answers with an error if there is none.
func (u *um) find(c *resp.Conn, name []byte) *engine.Filter {
	f := u.engine.Get(name)
	if f == nil {
		c.Error(refusal.Text(missing(name)))
	}
	return f
}

func missing(name []byte) error {
	return fmt.Errorf("%w: %s", engine.ErrNotFound, quoted(name))
}

// whole returns a filter that is all there: what is made of it would miss keys otherwise.
func (u *um) whole(name []byte) (*engine.Filter, error) {
	f := u.engine.Get(name)
	switch {
	case f == nil:
		return nil, missing(name)
	case f.Incomplete():
		return nil, fmt.Errorf("%w: %s", engine.ErrIncomplete, quoted(name))
	}
	return f, nil
}

// snapshot returns a copy of a filter's state, in memory that is held for it.
func (u *um) snapshot(h *engine.Reservation, f *engine.Filter) (s umbel.State, err error) {
	if err := h.Take(f.Bytes()); err != nil {
		return s, err
	}
	err = f.View(func(f umbel.Filter) { s = f.State().Clone() })
	return s, err
}

// open returns a filter of its own, a copy of one of the engine's.
func (u *um) open(h *engine.Reservation, f *engine.Filter) (umbel.Filter, error) {
	s, err := u.snapshot(h, f)
	if err != nil {
		return nil, err
	}
	return u.engine.Kinds().Open(s)
}

// kept answers OK to a change, or says why it failed.
func kept(c *resp.Conn, pos engine.Position, err error) {
	c.Commit(uint64(pos))
	if err != nil {
		c.Error(refusal.Text(err))
		return
	}
	c.Simple("OK")
}

// fail answers with an error.
func fail(c *resp.Conn, err error) { c.Error(refusal.Text(err)) }

// is reports whether a word of a command is the option.
func is(word []byte, option string) bool {
	return len(word) == len(option) && strings.EqualFold(string(word), option)
}

// quoted returns what a client sent as an error can repeat it.
func quoted(b []byte) string { return strconv.Quote(string(b[:min(len(b), 64)])) }

// number answers with a parameter of a filter.
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

// pair answers with a word and a whole number, as an element of a map.
func pair(c *resp.Conn, name string, n uint64) {
	c.BulkString(name)
	number(c, umbel.Uint(n))
}

// share answers with a word and a fraction or an estimate.
func share(c *resp.Conn, name string, f float64) {
	c.BulkString(name)
	c.Double(f)
}

// text answers with a word and another.
func text(c *resp.Conn, name, s string) {
	c.BulkString(name)
	c.BulkString(s)
}

// unsupported says what a kind can't do.
func unsupported(kind, cannot string) error {
	return fmt.Errorf("a filter of kind %s %s; UM.KINDS tells what kinds can: %w", kind, cannot, errors.ErrUnsupported)
}
