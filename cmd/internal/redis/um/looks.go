package um

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/files/ability"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/filter/compare"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// looks are the commands that describe filters and kinds.
func (u *um) looks() []command.Row {
	return []command.Row{
		{Name: "um.info", Syntax: "key", Arity: 2, Keys: command.OneKey, Right: access.Read,
			Flags: "readonly", Categories: "read slow umbel",
			Summary: "Describes a filter: kind, size, rate and keys.", Long: long, Run: u.info},
		{Name: "um.id", Syntax: "key", Arity: 2, Keys: command.OneKey, Right: access.Read,
			Flags: "readonly", Categories: "read slow umbel",
			Summary: "Returns a filter's ID, which identifies its contents.", Long: long, Run: u.id},
		{Name: "um.overlap", Syntax: "key key", Arity: 3, Keys: command.TwoKeys, Right: access.Read,
			Flags: "readonly", Categories: "read slow umbel",
			Summary: "Estimates how many keys two filters share.", Long: long, Run: u.overlap},
		{Name: "um.kinds", Syntax: "[kind]", Arity: -1, Flags: "readonly", Categories: "read slow umbel",
			Summary: "Lists the kinds with their abilities and parameters.", Run: u.kinds},
	}
}

// shape is a state without cells.
type shape struct {
	layers uint64
	params umbel.Params
}

func shapeOf(f *engine.Filter) (s shape, err error) {
	state, err := f.Shape()
	return shape{max(uint64(len(state.Parts)), 1), state.Params}, err
}

func (u *um) info(c *resp.Conn, args [][]byte) {
	f := u.find(c, args[1])
	if f == nil {
		return
	}
	sh, err := shapeOf(f)
	var s umbel.Stats
	if err == nil {
		s, err = f.Described()
	}
	if err != nil {
		command.Fail(c, err)
		return
	}
	counts := f.Counts()
	planned := f.Planned()
	c.Map(21)
	fieldText(c, "kind", f.Kind())
	fieldText(c, "hash", f.Hasher().Alg.String())
	keys(c, plan.Estimate{Value: s.Keys, Low: s.Low, High: s.High})
	fieldShare(c, "rate", s.FPRate)
	fieldInt(c, "planned-keys", planned.Keys)
	fieldShare(c, "planned-rate", planned.FPRate)
	fieldInt(c, "overfull", overfull(f))
	fieldShare(c, "fill", s.Fill)
	fieldInt(c, "cells", s.Cells)
	fieldShare(c, "k", s.K)
	fieldInt(c, "bytes", s.Bytes)
	fieldInt(c, "memory", f.Bytes())
	fieldInt(c, "layers", sh.layers)
	c.BulkString("params")
	c.Map(len(sh.params))
	for _, p := range sh.params {
		c.BulkString(p.Name)
		number(c, p.Value)
	}
	fieldInt(c, "version", f.Version())
	fieldText(c, "incomplete", f.Reason())
	fieldInt(c, "added", counts.Added)
	fieldInt(c, "queried", counts.Queried)
	fieldInt(c, "found", counts.Found)
}

// overfull returns 1 for an overfull filter, 0 for others.
func overfull(f *engine.Filter) uint64 {
	if f.Overfull() {
		return 1
	}
	return 0
}

func (u *um) id(c *resp.Conn, args [][]byte) {
	f, err := u.completeFilter(args[1])
	if err != nil {
		command.Fail(c, err)
		return
	}
	var id wire.ID
	if err := f.Inspect(func(f umbel.Filter) { id = hashtree.Identify(f.State()) }); err != nil {
		command.Fail(c, err)
		return
	}
	c.BulkString(id.String())
}

func (u *um) overlap(c *resp.Conn, args [][]byte) {
	o, err := u.overlapOf(args[1], args[2])
	if err != nil {
		command.Fail(c, err)
		return
	}
	c.Map(4)
	estimate(c, "both", o.Both)
	estimate(c, "union", o.Union)
	estimate(c, "first", o.A)
	estimate(c, "second", o.B)
}

// overlapOf compares copies of two filters.
func (u *um) overlapOf(first, second []byte) (o compare.Overlap, err error) {
	hold := u.engine.NewReservation()
	defer hold.Release()
	a, _, err := u.bits(hold, first)
	if err != nil {
		return o, err
	}
	b, f, err := u.bits(hold, second)
	if err != nil {
		return o, err
	}
	defer f.CatchFault(&err)
	return compare.Of(u.engine.Kinds(), a, b)
}

// bits returns a copy of the single bit array of a filter and the filter, and reserves memory for two more, the most
// that a comparison needs.
func (u *um) bits(h *engine.Reservation, name []byte) (bits umbel.Filter, f *engine.Filter, err error) {
	f, err = u.completeFilter(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.CatchFault(&err)
	own, err := f.Copy(h)
	if err != nil {
		return nil, nil, err
	}
	if err := h.Take(2 * f.Bytes()); err != nil {
		return nil, nil, err
	}
	if bits, err = compare.Bits(own); err != nil {
		return nil, nil, fmt.Errorf("filter %s: %w", command.Quote(name), err)
	}
	return bits, f, nil
}

func estimate(c *resp.Conn, name string, e plan.Estimate) {
	c.BulkString(name)
	c.Map(3)
	keys(c, e)
}

// keys replies three elements of a map: an estimated number of keys.
func keys(c *resp.Conn, e plan.Estimate) {
	fieldFloat(c, "keys", e.Value)
	fieldFloat(c, "keys-low", e.Low)
	fieldFloat(c, "keys-high", e.High)
}

// fieldFloat replies a word and a whole number or infinity.
func fieldFloat(c *resp.Conn, name string, f float64) {
	if f = math.Round(f); math.Abs(f) < 1<<63 {
		c.BulkString(name)
		c.Int(int64(f))
		return
	}
	fieldShare(c, name, f)
}

func (u *um) kinds(c *resp.Conn, args [][]byte) {
	if len(args) > 2 {
		c.Error("ERR wrong number of arguments for 'um.kinds' command")
		return
	}
	kinds := u.engine.Kinds()
	if len(args) == 2 {
		v, err := kinds.Find(string(args[1]))
		if err != nil {
			command.Fail(c, err)
			return
		}
		kinds = umbel.Kinds{v}
	}
	c.Map(len(kinds))
	for _, v := range kinds {
		c.BulkString(v.Name)
		describe(c, v)
	}
}

// describe replies the description of a kind.
func describe(c *resp.Conn, v umbel.Kind) {
	can, _ := ability.Of(v) // a kind without small filters lists no abilities
	c.Map(3)
	fieldText(c, "doc", v.Doc)
	c.BulkString("can")
	c.Array(len(can))
	for _, a := range can {
		if a.Param != "" {
			a.Word += " with " + a.Param
		}
		c.BulkString(a.Word)
	}
	c.BulkString("params")
	c.Map(len(v.Params))
	for _, p := range v.Params {
		c.BulkString(p.Name)
		c.Map(3)
		fieldText(c, "doc", p.Doc)
		fieldShare(c, "min", p.Min)
		fieldShare(c, "max", p.Max)
	}
}
