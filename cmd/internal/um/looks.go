package um

import (
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/ability"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/overlap"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/wire"
)

// looks are the commands that tell about filters and kinds.
func (u *um) looks() []row {
	return []row{
		{"um.info", "key", 2, 1, "read", "readonly", "Tells what a filter is and how it does.", resp.Aside(u.info), nil},
		{"um.id", "key", 2, 1, "read", "readonly", "Returns a filter's ID, which is the same for the same filter and no other.", resp.Aside(u.id), nil},
		{"um.overlap", "key key", 3, 2, "read", "readonly", "Estimates how many keys two filters share.", resp.Aside(u.overlap), nil},
		{"um.kinds", "[kind]", -1, 0, "", "readonly", "Lists the kinds, what they can do besides taking and finding keys, and their parameters.", resp.Aside(u.kinds), nil},
	}
}

// soon is the size up to which filters are measured anew at each question.
const soon = 64 << 20

// measure returns a filter's figures, of a large one those of a moment ago perhaps.
func measure(f *engine.Filter) umbel.Stats {
	if f.Bytes() > soon {
		return f.Measured()
	}
	return f.Stats()
}

// shape is what a state tells besides its cells.
type shape struct {
	layers uint64
	params umbel.Params
}

func shapeOf(f *engine.Filter) (s shape, err error) {
	err = f.View(func(f umbel.Filter) {
		state := f.State()
		s = shape{max(uint64(len(state.Parts)), 1), append(umbel.Params(nil), state.Params...)}
	})
	return s, err
}

func (u *um) info(c *resp.Conn, args [][]byte) {
	f := u.find(c, args[1])
	if f == nil {
		return
	}
	sh, err := shapeOf(f)
	if err != nil {
		fail(c, err)
		return
	}
	s, counts := measure(f), f.Counts()
	c.Map(18)
	text(c, "kind", f.Kind())
	text(c, "hash", f.Hasher().Alg.String())
	keys(c, plan.Estimate{Value: s.Keys, Low: s.Low, High: s.High})
	share(c, "rate", s.FPRate)
	share(c, "fill", s.Fill)
	pair(c, "cells", s.Cells)
	share(c, "k", s.K)
	pair(c, "bytes", s.Bytes)
	pair(c, "memory", f.Bytes())
	pair(c, "layers", sh.layers)
	c.BulkString("params")
	c.Map(len(sh.params))
	for _, p := range sh.params {
		c.BulkString(p.Name)
		number(c, p.Value)
	}
	pair(c, "version", f.Version())
	c.BulkString("complete")
	c.Bool(!f.Incomplete())
	pair(c, "added", counts.Added)
	pair(c, "asked", counts.Queried)
	pair(c, "found", counts.Found)
}

func (u *um) id(c *resp.Conn, args [][]byte) {
	f, err := u.whole(args[1])
	if err != nil {
		fail(c, err)
		return
	}
	var id wire.ID
	if err := f.View(func(f umbel.Filter) { id = wire.Identify(f.State()) }); err != nil {
		fail(c, err)
		return
	}
	c.BulkString(id.String())
}

func (u *um) overlap(c *resp.Conn, args [][]byte) {
	hold := u.engine.NewReservation()
	defer hold.Release()
	a, err := u.bits(hold, args[1])
	if err != nil {
		fail(c, err)
		return
	}
	b, err := u.bits(hold, args[2])
	if err != nil {
		fail(c, err)
		return
	}
	o, err := overlap.Of(u.engine.Kinds(), a, b)
	if err != nil {
		fail(c, err)
		return
	}
	c.Map(4)
	estimate(c, "both", o.Both)
	estimate(c, "union", o.Union)
	estimate(c, "first", o.A)
	estimate(c, "second", o.B)
}

// bits returns a copy of the one array of bits that a filter is or has, and holds memory for
// another, which comparing takes.
func (u *um) bits(h *engine.Reservation, name []byte) (umbel.Filter, error) {
	f, err := u.whole(name)
	if err != nil {
		return nil, err
	}
	own, err := u.open(h, f)
	if err != nil {
		return nil, err
	}
	if err := h.Take(f.Bytes()); err != nil {
		return nil, err
	}
	bits, err := overlap.Bits(own)
	if err != nil {
		return nil, fmt.Errorf("filter %s: %w", quoted(name), err)
	}
	return bits, nil
}

func estimate(c *resp.Conn, name string, e plan.Estimate) {
	c.BulkString(name)
	c.Map(3)
	keys(c, e)
}

// keys answers with three elements of a map: an estimate of a number of keys.
func keys(c *resp.Conn, e plan.Estimate) {
	about(c, "keys", e.Value)
	about(c, "keys-low", e.Low)
	about(c, "keys-high", e.High)
}

// about answers with a word and a whole number, or with infinity.
func about(c *resp.Conn, name string, f float64) {
	if f = math.Round(f); math.Abs(f) < 1<<63 {
		c.BulkString(name)
		c.Int(int64(f))
		return
	}
	share(c, name, f)
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
			fail(c, err)
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

// describe answers with what a kind is.
func describe(c *resp.Conn, v umbel.Kind) {
	can, _ := ability.Of(v) // a kind of which no small filter can be made shows nothing
	c.Map(3)
	text(c, "doc", v.Doc)
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
		text(c, "doc", p.Doc)
		share(c, "min", p.Min)
		share(c, "max", p.Max)
	}
}
