package um

import (
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

func (u *um) makes() []row {
	const wish = "[KEYS n] [RATE p] [BYTES n] [HASH name] [SEED hex] [parameter value ...]"
	return []row{
		{"um.make", "key kind " + wish + " [NX]", -3, 1, "add", "write denyoom", "Makes an empty filter. Two of KEYS, RATE and BYTES tell its size; with KEYS alone the rate is 1%.", u.make, nil},
		{"um.plan", "kind|* " + wish, -2, 0, "", "readonly", "Tells what UM.MAKE would make, without making it; of all kinds with *.", resp.Aside(u.plan), nil},
	}
}

func (u *um) make(c *resp.Conn, args [][]byte) {
	v, err := u.engine.Kinds().Find(string(args[2]))
	if err != nil {
		fail(c, err)
		return
	}
	w, err := u.wish(v, args[3:])
	if err != nil {
		fail(c, err)
		return
	}
	_, pos, err := u.engine.Create(string(args[1]), v.Name, w.goal, w.params)
	if errors.Is(err, engine.ErrExists) && w.nx {
		c.Commit(uint64(pos))
		c.Null()
		return
	}
	if errors.Is(err, engine.ErrExists) {
		err = fmt.Errorf("%w: %s; NX makes one only if there is none", err, quoted(args[1]))
	}
	kept(c, pos, err)
}

func (u *um) plan(c *resp.Conn, args [][]byte) {
	if is(args[1], "*") {
		kinds := u.engine.Kinds()
		c.Map(len(kinds))
		for _, v := range kinds {
			c.BulkString(v.Name)
			f, err := u.forecast(v, args[2:])
			if err != nil {
				c.BulkString(err.Error())
				continue
			}
			u.tell(c, f)
		}
		return
	}
	v, err := u.engine.Kinds().Find(string(args[1]))
	if err != nil {
		fail(c, err)
		return
	}
	f, err := u.forecast(v, args[2:])
	if err != nil {
		fail(c, err)
		return
	}
	u.tell(c, f)
}

func (u *um) forecast(v umbel.Kind, args [][]byte) (umbel.Forecast, error) {
	w, err := u.wish(v, args)
	if err != nil {
		return umbel.Forecast{}, err
	}
	if w.nx {
		return umbel.Forecast{}, fmt.Errorf("NX is for UM.MAKE: %w", umbel.ErrGoal)
	}
	return v.Plan(w.goal, w.params)
}

// tell answers with a forecast, and whether there is room for it.
func (u *um) tell(c *resp.Conn, f umbel.Forecast) {
	c.Map(6)
	pair(c, "keys", f.Keys)
	share(c, "rate", f.FPRate)
	pair(c, "bytes", f.Bytes)
	pair(c, "cells", f.Cells)
	share(c, "k", f.K)
	c.BulkString("fits")
	c.Bool(u.engine.CheckMemory(f.Bytes) == nil)
}
