package um

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/outgoing"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// moves are the commands that export and import filters.
func (u *um) moves() []command.Row {
	return []command.Row{
		{Name: "um.export", Syntax: "key [PACKED]", Arity: -2, Keys: command.OneKey, Right: access.Read,
			Flags: "readonly", Categories: "read slow umbel",
			Summary: "Returns a filter as a container, which may be packed.", Long: long, Run: u.export},
		{Name: "um.import", Syntax: "key container [REPLACE]", Arity: -3, Keys: command.OneKey, Makes: 1, Right: access.Add,
			Flags: "write denyoom", Categories: "slow umbel write",
			Summary: "Makes a filter from a container.", Long: long, Run: u.imports},
		{Name: "um.diff", Syntax: "key FROM key | key BASE container", Arity: 4, Keys: command.OneKey, Right: access.Read,
			Flags: "readonly", Categories: "read slow umbel",
			Summary: "Returns the delta from another filter to this one.", Long: u.longDiff, Run: u.diff},
		{Name: "um.publish", Syntax: "key", Arity: 2, Keys: command.OneKey, Right: access.Admin,
			Flags: "readonly admin no_multi", Categories: "admin slow umbel",
			Summary: "Publishes a filter now, if it has a publication, and returns the version.", Long: long, Run: u.publish},
		{Name: "um.patch", Syntax: "key delta", Arity: 3, Keys: command.OneKey, Right: access.Add,
			Flags: "write denyoom", Categories: "slow umbel write",
			Summary: "Applies a delta, which contains the ID of its base.", Long: long, Run: u.patch},
	}
}

func (u *um) export(c *resp.Conn, args [][]byte) {
	f := u.copyable(c, args[1])
	if f == nil {
		return
	}
	switch {
	case len(args) == 2:
		command.Export(c, u.engine, f, outgoing.Canonical)
	case len(args) == 3 && command.Is(args[2], "PACKED"):
		command.Export(c, u.engine, f, outgoing.Packed)
	default:
		c.Error("ERR usage: UM.EXPORT key [PACKED]")
	}
}

// copyable returns a complete filter that the client may copy, or replies an error and returns nil.
func (u *um) copyable(c *resp.Conn, name []byte) *engine.Filter {
	f, err := u.completeFilter(name)
	if err != nil {
		command.Fail(c, err)
		return nil
	}
	if !command.MayCopy(c, f) {
		return nil
	}
	return f
}

// publish waits until a version with all changes of the client's earlier commands is published.
func (u *um) publish(c *resp.Conn, args [][]byte) {
	version, err := u.options.Publish(string(args[1]))
	if err != nil {
		command.Fail(c, err)
		return
	}
	c.Int(int64(version))
}

// limits returns the limits of an incoming container or delta, which is decoded on all cores.
func limits(h *engine.Reservation) wire.Limits {
	l := h.Limits()
	l.Workers = runtime.GOMAXPROCS(0)
	return l
}

// parse returns the filter in a container.
func (u *um) parse(l wire.Limits, b []byte) (umbel.Filter, error) {
	if delta.Is(b) {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "the argument is a delta, not a container; use UM.PATCH")
	}
	s, err := wire.Parse(b, l)
	if err != nil {
		return nil, err
	}
	return u.engine.Kinds().Open(s)
}

func (u *um) imports(c *resp.Conn, args [][]byte) {
	replace := len(args) == 4 && command.Is(args[3], "REPLACE")
	switch {
	case len(args) > 3 && !replace:
		c.Error("ERR usage: UM.IMPORT key container [REPLACE]")
		return
	case replace && !command.Require(c, args[1], access.Remove):
		return
	}
	if !replace && u.engine.Get(args[1]) != nil {
		command.Fail(c, fmt.Errorf("%w: %s; use REPLACE", engine.ErrExists, command.Quote(args[1])))
		return
	}
	hold := u.engine.NewReservation()
	defer hold.Release()
	l := limits(hold)
	l.Bytes = c.MostBytes(l.Bytes)
	f, err := u.parse(l, args[2])
	if err != nil {
		command.Fail(c, err)
		return
	}
	g, pos, err := u.engine.Put(string(args[1]), f, engine.PutOptions{Replace: replace, Hold: hold})
	if err == nil {
		c.SpendBytes(g.Bytes())
	}
	command.OK(c, pos, err)
}

func (u *um) diff(c *resp.Conn, args [][]byte) {
	if command.Is(args[2], "FROM") && !command.Require(c, args[3], access.Read) {
		return
	}
	f := u.copyable(c, args[1])
	if f == nil {
		return
	}
	message, err := u.deltaTo(f, args[2], args[3])
	if err == nil {
		err = command.Fits(c, uint64(len(message)))
	}
	if err != nil {
		command.Fail(c, err)
		return
	}
	c.Bulk(message)
}

// longDiff is long with the bytes of the base, if it is a filter.
func (u *um) longDiff(named uint64, args [][]byte) uint64 {
	if f := u.engine.Get(args[3]); f != nil {
		named += f.Bytes()
	}
	return long(named, args)
}

// deltaTo returns the delta from a base to the filter: see base.
func (u *um) deltaTo(f *engine.Filter, word, value []byte) (message []byte, err error) {
	hold := u.engine.NewReservation()
	defer hold.Release()
	base, err := u.base(hold, word, value)
	if err != nil {
		return nil, err
	}
	now, err := f.CopyState(hold)
	if err != nil {
		return nil, err
	}
	defer f.CatchFault(&err)
	return delta.Encoder{Workers: runtime.GOMAXPROCS(0)}.Append(nil, base, now)
}

// base returns the base of a delta: the state of a filter, or of a container.
func (u *um) base(h *engine.Reservation, word, value []byte) (umbel.State, error) {
	switch {
	case command.Is(word, "FROM"):
		f, err := u.completeFilter(value)
		if err != nil {
			return umbel.State{}, err
		}
		return f.CopyState(h)
	case command.Is(word, "BASE"):
		f, err := u.parse(limits(h), value)
		if err != nil {
			return umbel.State{}, err
		}
		return f.State(), nil
	}
	return umbel.State{}, errors.New("usage: UM.DIFF key FROM key | UM.DIFF key BASE container")
}

// patch needs the right to remove too, because a delta may clear cells.
func (u *um) patch(c *resp.Conn, args [][]byte) {
	if !command.Require(c, args[1], access.Remove) {
		return
	}
	f, err := u.completeFilter(args[1])
	if err != nil {
		command.Fail(c, err)
		return
	}
	hold := u.engine.NewReservation()
	defer hold.Release()
	pos, err := f.Patch(args[2], limits(hold))
	command.OK(c, pos, err)
}
