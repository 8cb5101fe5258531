package um

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/access"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/permit"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// moves are the commands that export and import filters.
func (u *um) moves() []row {
	return []row{
		{"um.export", "key [PACKED]", -2, 1, "read", "readonly", "Returns a filter as a container, which may be packed.", u.export, nil},
		{"um.import", "key container [REPLACE]", -3, 1, "add", "write denyoom", "Makes a filter from a container.", u.imports, nil},
		{"um.diff", "key FROM key | key BASE container", 4, 1, "read", "readonly", "Returns the delta from another filter to this one.", u.diff, nil},
		{"um.patch", "key delta", 3, 1, "add", "write denyoom", "Applies a delta, which contains the ID of its base.", u.patch, nil},
	}
}

func (u *um) export(c *resp.Conn, args [][]byte) {
	f, err := u.completeFilter(args[1])
	if err != nil {
		fail(c, err)
		return
	}
	if !permit.All(c, f) {
		return
	}
	var b []byte
	switch {
	case len(args) == 2:
		b, err = canonical(c, f)
	case len(args) == 3 && isOption(args[2], "PACKED"):
		b, err = u.packed(c, f)
	default:
		err = errors.New("usage: UM.EXPORT key [PACKED]")
	}
	if err != nil {
		fail(c, err)
		return
	}
	c.Bulk(b)
}

// canonical returns the canonical container of a filter.
func canonical(c *resp.Conn, f *engine.Filter) (b []byte, err error) {
	gone := f.View(func(f umbel.Filter) { err = fits(c, wire.Size(f.State())) }) // before a copy is made
	if err := errors.Join(gone, err); err != nil {
		return nil, err
	}
	gone = f.Inspect(func(f umbel.Filter) { b, err = wire.Append(nil, f.State()) })
	return b, errors.Join(gone, err)
}

// packed packs a copy of the filter, because packing is slow.
func (u *um) packed(c *resp.Conn, f *engine.Filter) ([]byte, error) {
	hold := u.engine.NewReservation()
	defer hold.Release()
	s, err := f.CopyState(hold)
	if err != nil {
		return nil, err
	}
	b, err := wire.Packer{Workers: runtime.GOMAXPROCS(0)}.Append(nil, s)
	if err == nil {
		err = fits(c, uint64(len(b)))
	}
	return b, err
}

// fits returns an error unless a reply of n bytes can be sent to the client.
func fits(c *resp.Conn, n uint64) error {
	if most := c.MaxReply(); n > uint64(most) {
		return fmt.Errorf("the container has %d bytes and a reply at most %d; get it over HTTP: %w", n, most, umbel.ErrLimit)
	}
	return nil
}

// limits returns the limits of incoming containers: the free memory, which is reserved, and at
// most the configured limit.
func (u *um) limits(h *engine.Reservation) wire.Limits {
	l := wire.Limits{Reserve: h.Take, Workers: runtime.GOMAXPROCS(0)}
	if u.options.MaxBytes != nil {
		l.Bytes = u.options.MaxBytes()
	}
	if l.Bytes == 0 {
		l.Bytes = wire.DefaultBytes
	}
	if used, limit := u.engine.Memory(); limit != 0 {
		l.Bytes = max(min(l.Bytes, limit-min(used, limit)), 1)
	}
	return l
}

// parse returns the filter in a container.
func (u *um) parse(h *engine.Reservation, b []byte) (umbel.Filter, error) {
	return u.parseWithin(u.limits(h), b)
}

func (u *um) parseWithin(l wire.Limits, b []byte) (umbel.Filter, error) {
	if delta.Is(b) {
		return nil, fmt.Errorf("the argument is a delta, not a container; use UM.PATCH: %w", umbel.ErrCorrupt)
	}
	s, err := wire.Parse(b, l)
	if err != nil {
		return nil, err
	}
	return u.engine.Kinds().Open(s)
}

func (u *um) imports(c *resp.Conn, args [][]byte) {
	replace := len(args) == 4 && isOption(args[3], "REPLACE")
	switch {
	case len(args) > 3 && !replace:
		c.Error("ERR usage: UM.IMPORT key container [REPLACE]")
		return
	case replace && !permit.May(c, access.Remove, args[1]):
		c.Error(permit.NoKey)
		return
	}
	if !replace && u.engine.Get(args[1]) != nil {
		fail(c, fmt.Errorf("%w: %s; use REPLACE", engine.ErrExists, quoted(args[1])))
		return
	}
	hold := u.engine.NewReservation()
	defer hold.Release()
	limits := u.limits(hold)
	if c.InTransaction() {
		limits.Bytes = min(limits.Bytes, resp.MaxTransactionBytes)
	}
	f, err := u.parseWithin(limits, args[2])
	if err != nil {
		fail(c, err)
		return
	}
	hold.Release() // from here on the engine accounts for it
	_, pos, err := u.engine.Put(string(args[1]), f, engine.PutOptions{Replace: replace})
	replyAfter(c, pos, err)
}

func (u *um) diff(c *resp.Conn, args [][]byte) {
	if isOption(args[2], "FROM") && !permit.May(c, access.Read, args[3]) {
		c.Error(permit.NoKey)
		return
	}
	f, err := u.completeFilter(args[1])
	if err != nil {
		fail(c, err)
		return
	}
	if !permit.All(c, f) {
		return
	}
	hold := u.engine.NewReservation()
	defer hold.Release()
	base, err := u.base(hold, args[2], args[3])
	var now umbel.State
	if err == nil {
		now, err = f.CopyState(hold)
	}
	var message []byte
	if err == nil {
		message, err = delta.Encoder{Workers: runtime.GOMAXPROCS(0)}.Append(nil, base, now)
	}
	if err == nil {
		err = fits(c, uint64(len(message)))
	}
	if err != nil {
		fail(c, err)
		return
	}
	c.Bulk(message)
}

// base returns the base of a delta: the state of a filter, or of a container.
func (u *um) base(h *engine.Reservation, word, value []byte) (umbel.State, error) {
	switch {
	case isOption(word, "FROM"):
		f, err := u.completeFilter(value)
		if err != nil {
			return umbel.State{}, err
		}
		return f.CopyState(h)
	case isOption(word, "BASE"):
		f, err := u.parse(h, value)
		if err != nil {
			return umbel.State{}, err
		}
		return f.State(), nil
	}
	return umbel.State{}, errors.New("usage: UM.DIFF key FROM key | UM.DIFF key BASE container")
}

// patch needs the right to remove too, because a delta may clear cells.
func (u *um) patch(c *resp.Conn, args [][]byte) {
	if !permit.May(c, access.Remove, args[1]) {
		c.Error(permit.NoKey)
		return
	}
	f, err := u.completeFilter(args[1])
	if err != nil {
		fail(c, err)
		return
	}
	pos, err := u.apply(f, args[2])
	replyAfter(c, pos, err)
}

// apply applies a delta to a filter, if there is memory for both states.
func (u *um) apply(f *engine.Filter, message []byte) (engine.Position, error) {
	hold := u.engine.NewReservation()
	defer hold.Release()
	limits := u.limits(hold)
	return f.Replace(func(f umbel.Filter) (umbel.Filter, error) {
		s, err := delta.Apply(f.State(), message, limits)
		if err != nil {
			return nil, err
		}
		return u.engine.Kinds().Open(s)
	})
}
