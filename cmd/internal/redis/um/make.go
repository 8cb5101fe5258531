package um

import (
	"errors"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/cmd/internal/report"
)

func (u *um) makes() []command.Row {
	const words = "[KEYS n] [RATE p] [BYTES n] [HASH name] [SEED hex] [parameter value ...]"
	return []command.Row{
		{Name: "um.make", Syntax: "key kind " + words + " [NX]", Arity: -3, Keys: command.OneKey, Makes: 1, Right: access.Add,
			Flags: "write denyoom", Categories: "slow umbel write",
			Summary: "Makes an empty filter. Two of KEYS, RATE and BYTES determine its size; the default of RATE is 1%.", Long: long, Run: u.make},
		{Name: "um.plan", Syntax: "kind|* " + words, Arity: -2, Flags: "readonly", Categories: "read slow umbel",
			Summary: "Forecasts what UM.MAKE would make; * means all kinds.", Run: u.plan},
	}
}

func (u *um) make(c *resp.Conn, args [][]byte) {
	v, err := u.engine.Kinds().Find(string(args[2]))
	if err != nil {
		command.Fail(c, err)
		return
	}
	words := withoutNX(args[3:])
	goal, params, err := u.resolve(v, words)
	if err != nil {
		command.Fail(c, err)
		return
	}
	_, pos, err := u.engine.Create(string(args[1]), v.Name, goal, params)
	if errors.Is(err, engine.ErrExists) && len(words) < len(args[3:]) {
		c.Commit(uint64(pos))
		c.Null()
		return
	}
	if errors.Is(err, engine.ErrExists) {
		err = fmt.Errorf("%w: %s; NX makes only new filters", err, command.Quote(args[1]))
	}
	command.OK(c, pos, err)
}

// withoutNX returns the words without NX.
func withoutNX(words [][]byte) [][]byte {
	return slices.DeleteFunc(slices.Clone(words), func(w []byte) bool { return command.Is(w, "NX") })
}

// resolve returns the goal and the parameters that words specify for a filter of kind v.
func (u *um) resolve(v umbel.Kind, words [][]byte) (umbel.Goal, umbel.Params, error) {
	s, err := spec.ParseWords(v, words)
	if err != nil {
		return umbel.Goal{}, nil, err
	}
	goal, err := s.Resolve(v, u.options.Hasher)
	return goal, s.Params, err
}

func (u *um) plan(c *resp.Conn, args [][]byte) {
	if command.Is(args[1], "*") {
		kinds := u.engine.Kinds()
		c.Map(len(kinds))
		for _, v := range kinds {
			c.BulkString(v.Name)
			f, err := u.forecast(v, args[2:])
			if err != nil {
				c.BulkString(report.Text(err))
				continue
			}
			u.replyForecast(c, f)
		}
		return
	}
	v, err := u.engine.Kinds().Find(string(args[1]))
	if err != nil {
		command.Fail(c, err)
		return
	}
	f, err := u.forecast(v, args[2:])
	if err != nil {
		command.Fail(c, err)
		return
	}
	u.replyForecast(c, f)
}

func (u *um) forecast(v umbel.Kind, args [][]byte) (umbel.Forecast, error) {
	return u.engine.Forecast(func() (umbel.Forecast, error) {
		goal, params, err := u.resolve(v, args)
		if err != nil {
			return umbel.Forecast{}, err
		}
		return v.Plan(goal, params)
	})
}

// replyForecast replies a forecast and whether there is enough memory.
func (u *um) replyForecast(c *resp.Conn, f umbel.Forecast) {
	c.Map(6)
	fieldInt(c, "keys", f.Keys)
	fieldShare(c, "rate", f.FPRate)
	fieldInt(c, "bytes", f.Bytes)
	fieldInt(c, "cells", f.Cells)
	fieldShare(c, "k", f.K)
	c.BulkString("fits")
	c.Bool(u.engine.CheckMemory(f.Bytes) == nil)
}
