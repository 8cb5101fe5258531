package um

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/access"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/overlap"
	"github.com/umbel-filters/umbel/cmd/internal/permit"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

// joins are the commands that make filters of others.
func (u *um) joins() []row {
	return []row{
		{"um.merge", "destination source [source ...]", -3, -1, "read", "write denyoom", "Adds the keys of filters to another, which is made if it isn't there. Unlike sizes are folded to a common one.", u.merge, nil},
		{"um.intersect", "destination source source [source ...]", -4, -1, "read", "write denyoom", "Makes a filter of what all sources have: their common keys, and some others.", u.intersect, nil},
		{"um.copy", "source destination [REPLACE]", -3, 2, "read", "write denyoom", "Makes a second filter of one, of whatever kind.", u.copy, nil},
	}
}

// merge joins the sources first: the destination changes once, or not at all.
func (u *um) merge(c *resp.Conn, args [][]byte) {
	name := args[1]
	if !permit.May(c, access.Add, name) {
		c.Error(permit.NoKey)
		return
	}
	sources := others(name, args[2:])
	if len(sources) == 0 {
		c.Error("ERR a filter isn't merged with itself")
		return
	}
	hold := u.engine.NewReservation()
	defer hold.Release()
	var union umbel.Filter
	var err error
	c.Aside(func() { union, err = u.union(hold, sources) })
	if err != nil {
		fail(c, err)
		return
	}
	if f := u.engine.Get(name); f != nil {
		pos, err := f.Merge(union.State())
		kept(c, pos, err)
		return
	}
	hold.Release() // it is the engine's
	_, pos, err := u.engine.Put(string(name), union, false, false)
	kept(c, pos, err)
}

// others returns the names, each once, without one: what is counted is counted once.
func others(but []byte, names [][]byte) (list [][]byte) {
	for _, name := range names {
		same := func(n []byte) bool { return bytes.Equal(n, name) }
		if !same(but) && !slices.ContainsFunc(list, same) {
			list = append(list, name)
		}
	}
	return list
}

// union returns a filter of its own with the keys of all.
func (u *um) union(h *engine.Reservation, names [][]byte) (umbel.Filter, error) {
	first, err := u.whole(names[0])
	if err != nil {
		return nil, err
	}
	union, err := u.open(h, first)
	if err != nil {
		return nil, err
	}
	m, ok := union.(umbel.Merger)
	if !ok && len(names) > 1 {
		return nil, unsupported(first.Kind(), "doesn't merge")
	}
	for _, name := range names[1:] {
		f, err := u.whole(name)
		if err != nil {
			return nil, err
		}
		var mismatch error
		gone := f.View(func(f umbel.Filter) { mismatch = m.Merge(f.State()) })
		if err := errors.Join(gone, mismatch); err != nil {
			return nil, fmt.Errorf("%s and %s: %w", quoted(names[0]), quoted(name), err)
		}
	}
	return union, nil
}

func (u *um) intersect(c *resp.Conn, args [][]byte) {
	name := args[1]
	if !permit.May(c, access.Add, name) {
		c.Error(permit.NoKey)
		return
	}
	if u.engine.Get(name) != nil {
		fail(c, fmt.Errorf("%w: %s; name a new one", engine.ErrExists, quoted(name)))
		return
	}
	hold := u.engine.NewReservation()
	defer hold.Release()
	var common umbel.Filter
	var err error
	c.Aside(func() { common, err = u.common(hold, args[2:]) })
	if err != nil {
		fail(c, err)
		return
	}
	hold.Release() // it is the engine's
	_, pos, err := u.engine.Put(string(name), common, false, false)
	kept(c, pos, err)
}

// common returns a filter of its own of what all have.
func (u *um) common(h *engine.Reservation, names [][]byte) (umbel.Filter, error) {
	common, err := u.bits(h, names[0])
	for _, name := range names[1:] {
		if err != nil {
			return nil, err
		}
		err = u.narrow(common, names[0], name)
	}
	if err != nil {
		return nil, err
	}
	return u.engine.Kinds().Open(common.State()) // what it knows of its cells is of before
}

// narrow leaves in a filter, made of the first name's, what that of the second has too.
func (u *um) narrow(common umbel.Filter, first, second []byte) error {
	hold := u.engine.NewReservation()
	defer hold.Release()
	b, err := u.bits(hold, second)
	if err != nil {
		return err
	}
	if err := overlap.Intersect(u.engine.Kinds(), common, b); err != nil {
		return fmt.Errorf("%s and %s: %w", quoted(first), quoted(second), err)
	}
	return nil
}

func (u *um) copy(c *resp.Conn, args [][]byte) {
	from, to := args[1], args[2]
	replace := len(args) == 4 && is(args[3], "REPLACE")
	switch {
	case len(args) > 3 && !replace:
		c.Error("ERR say UM.COPY source destination, or with REPLACE behind it")
		return
	case !permit.May(c, access.Add, to) || replace && !permit.May(c, access.Remove, to):
		c.Error(permit.NoKey)
		return
	case bytes.Equal(from, to):
		c.Error("ERR source and destination are the same")
		return
	}
	if u.find(c, from) == nil {
		return
	}
	pos, err := u.engine.Copy(from, to, replace)
	if errors.Is(err, engine.ErrExists) {
		err = fmt.Errorf("%w: %s; say REPLACE", err, quoted(to))
	}
	kept(c, pos, err)
}
