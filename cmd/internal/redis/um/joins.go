package um

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/filter/compare"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// joins are the commands that make filters from others.
func (u *um) joins() []command.Row {
	return []command.Row{
		{Name: "um.merge", Syntax: "destination source [source ...]", Arity: -3, Keys: command.AllKeys, Makes: 1, Right: access.Read,
			Flags: "write denyoom", Categories: "slow umbel write",
			Summary: "Adds the keys of filters to another, which is made if it is missing. Different sizes are folded to a common one.", Long: long,
			Run: u.merge},
		{Name: "um.intersect", Syntax: "destination source source [source ...]", Arity: -4, Keys: command.AllKeys, Makes: 1, Right: access.Read,
			Flags: "write denyoom", Categories: "slow umbel write",
			Summary: "Makes a filter of the intersection of all sources. It contains their common keys, and has a higher rate.", Long: long,
			Run: u.intersect},
		{Name: "um.copy", Syntax: "source destination [REPLACE]", Arity: -3, Keys: command.TwoKeys, Makes: 2, Right: access.Read,
			Flags: "write denyoom", Categories: "slow umbel write",
			Summary: "Copies a filter of any kind.", Long: long, Run: u.copy},
	}
}

// merge merges the sources first, so that the destination changes once or not at all.
func (u *um) merge(c *resp.Conn, args [][]byte) {
	name := args[1]
	if !command.Require(c, name, access.Add) {
		return
	}
	sources := others(name, args[2:])
	if len(sources) == 0 {
		c.Error("ERR source and destination are the same filter")
		return
	}
	hold := u.engine.NewReservation()
	defer hold.Release()
	union, err := u.union(hold, sources)
	if err != nil {
		command.Fail(c, err)
		return
	}
	if f := u.engine.Get(name); f != nil {
		pos, err := f.Merge(union.State())
		command.OK(c, pos, err)
		return
	}
	_, pos, err := u.engine.Put(string(name), union, engine.PutOptions{Hold: hold})
	command.OK(c, pos, err)
}

// others returns the distinct names without one: merging a counting filter twice would count
// twice.
func others(but []byte, names [][]byte) (list [][]byte) {
	for _, name := range names {
		same := func(n []byte) bool { return bytes.Equal(n, name) }
		if !same(but) && !slices.ContainsFunc(list, same) {
			list = append(list, name)
		}
	}
	return list
}

// union returns a new filter with the keys of all.
func (u *um) union(h *engine.Reservation, names [][]byte) (umbel.Filter, error) {
	first, err := u.completeFilter(names[0])
	if err != nil {
		return nil, err
	}
	union, err := first.Copy(h)
	if err != nil {
		return nil, err
	}
	m, ok := union.(umbel.Merger)
	if !ok && len(names) > 1 {
		return nil, hintKinds(sentinel.Errorf(errors.ErrUnsupported, "kind %s can't merge", first.Kind()))
	}
	for _, name := range names[1:] {
		f, err := u.completeFilter(name)
		if err != nil {
			return nil, err
		}
		var mismatch error
		gone := f.Inspect(func(f umbel.Filter) { mismatch = m.Merge(f.State()) })
		if err := errors.Join(gone, mismatch); err != nil {
			return nil, fmt.Errorf("%s and %s: %w", command.Quote(names[0]), command.Quote(name), err)
		}
	}
	return union, nil
}

func (u *um) intersect(c *resp.Conn, args [][]byte) {
	name := args[1]
	if !command.Require(c, name, access.Add) {
		return
	}
	if u.engine.Get(name) != nil {
		command.Fail(c, fmt.Errorf("%w: %s; choose a new name", engine.ErrExists, command.Quote(name)))
		return
	}
	hold := u.engine.NewReservation()
	defer hold.Release()
	common, err := u.common(hold, args[2:])
	if err != nil {
		command.Fail(c, err)
		return
	}
	_, pos, err := u.engine.Put(string(name), common, engine.PutOptions{Hold: hold})
	command.OK(c, pos, err)
}

// common returns a new filter with the intersection of all.
func (u *um) common(h *engine.Reservation, names [][]byte) (umbel.Filter, error) {
	common, _, err := u.bits(h, names[0])
	for _, name := range names[1:] {
		if err != nil {
			return nil, err
		}
		common, err = u.narrow(common, names[0], name)
	}
	return common, err
}

// narrow returns the intersection of common, a copy of the filter first at the beginning, and the filter second.
func (u *um) narrow(common umbel.Filter, first, second []byte) (_ umbel.Filter, err error) {
	hold := u.engine.NewReservation()
	defer hold.Release()
	b, f, err := u.bits(hold, second)
	if err != nil {
		return nil, err
	}
	defer f.CatchFault(&err)
	common, err = compare.Intersection(u.engine.Kinds(), common, b)
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", command.Quote(first), command.Quote(second), err)
	}
	return common, nil
}

func (u *um) copy(c *resp.Conn, args [][]byte) {
	from, to := args[1], args[2]
	replace := len(args) == 4 && command.Is(args[3], "REPLACE")
	switch {
	case len(args) > 3 && !replace:
		c.Error("ERR usage: UM.COPY source destination [REPLACE]")
		return
	case !command.Require(c, to, access.Add) || replace && !command.Require(c, to, access.Remove):
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
		err = fmt.Errorf("%w: %s; use REPLACE", err, command.Quote(to))
	}
	command.OK(c, pos, err)
}
