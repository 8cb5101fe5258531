package redisbloom

import (
	"errors"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/cuckoo"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

// reserve implements BF.RESERVE.
func (m *Module) reserve(c *resp.Conn, args [][]byte) {
	if len(args) > 7 {
		c.Error(reserveArity)
		return
	}
	o, problem := reserveOptions(args[2:])
	if problem == "" {
		problem = m.taken(args[1])
	}
	if problem != "" {
		c.Error(problem)
		return
	}
	_, pos, err := m.create(args[1], o, m.options.Hasher)
	if err != nil {
		problem = createProblem(err)
	}
	replyOK(c, pos, problem)
}

// taken returns the reply if the name is taken.
func (m *Module) taken(name []byte) string {
	switch f := m.engine.Get(name); {
	case f == nil:
		return ""
	case f.Kind() == cuckoo.Name:
		return wrongType
	}
	return itemExists
}

// create makes an empty filter within the memory limit. Engine.Create is not used, because plans
// are larger than RedisBloom's sizes if double hashing needs it.
func (m *Module) create(name []byte, o redisbloom.Options, h umbel.Hasher) (*engine.Filter, engine.Position, error) {
	hold := m.engine.NewReservation()
	defer hold.Release()
	f, err := m.newFilter(hold, name, o, h)
	if err != nil {
		return nil, 0, err
	}
	return m.engine.Put(string(name), f, engine.PutOptions{Empty: true, Hold: hold})
}

// newFilter returns an empty filter for this name, and reserves memory for it.
func (m *Module) newFilter(hold *engine.Reservation, name []byte, o redisbloom.Options, h umbel.Hasher) (f *redisbloom.Filter, err error) {
	defer m.engine.CatchFault(redisbloom.Name, &err)
	if err := o.Check(); err != nil {
		return nil, err
	}
	if err := hold.TakeFor(string(name), o.Forecast(1).Bytes); err != nil {
		return nil, err
	}
	f, err = redisbloom.ReserveHashed(o, h)
	if err == nil && o.NonScaling && o.Expansion == 0 {
		f, err = withoutExpansion(f)
	}
	return f, err
}

// withoutExpansion returns f, which does not scale, with an expansion of 0. RedisBloom dumps such a
// number if it was requested, and 2 after NONSCALING.
func withoutExpansion(f *redisbloom.Filter) (*redisbloom.Filter, error) {
	s := f.State()
	for i := range s.Params {
		if s.Params[i].Name == "expansion" {
			s.Params[i].Value = umbel.Uint(0)
		}
	}
	return redisbloom.Open(s)
}

// absent returns the reply for a name without a filter.
func (m *Module) absent() string {
	if err := m.engine.CheckAbsent(); !errors.Is(err, engine.ErrNotFound) {
		return command.Text(err)
	}
	return notFound
}

// attempts is the number of retries if other clients make or delete the filter meanwhile.
const attempts = 100

// target returns the filter for additions, which it makes with o if it is missing, or an error
// reply.
func (m *Module) target(c *resp.Conn, name []byte, o *insertion) (f *engine.Filter, problem string) {
	return m.findOrMake(c, name, false, o.noCreate, func() (*engine.Filter, engine.Position, error) {
		if o.scaleTo != 0 {
			if err := m.checkScale(o); err != nil {
				return nil, 0, err
			}
		}
		return m.create(name, o.Options, o.hasher)
	})
}

// checkScale returns an error if the filter could not grow to the capacity of VALIDATESCALETO.
func (m *Module) checkScale(o *insertion) (err error) {
	defer m.engine.CatchFault(redisbloom.Name, &err)
	if m.engine.CheckMemory(o.Forecast(o.scaleTo).Bytes) != nil {
		return errScaleMemory
	}
	return nil
}

// findOrMake returns a filter of CF.*, or of another kind. It calls create if there is none.
func (m *Module) findOrMake(c *resp.Conn, name []byte, isCuckoo, noCreate bool,
	create func() (*engine.Filter, engine.Position, error)) (f *engine.Filter, problem string) {
	for range attempts {
		if f = m.engine.Get(name); f != nil {
			switch {
			case (f.Kind() == cuckoo.Name) != isCuckoo:
				return nil, wrongType
			case f.Incomplete() && !f.Lost():
				return nil, loading
			}
			return f, ""
		}
		if noCreate {
			return nil, m.absent()
		}
		f, pos, err := create()
		c.Commit(uint64(pos))
		if err == nil {
			return f, ""
		}
		if !errors.Is(err, engine.ErrExists) {
			return nil, createProblem(err)
		}
	}
	return nil, itemExists
}

// room returns how many more items a filter of RedisBloom's kind accepts without another layer,
// and whether it may not grow.
func room(f *engine.Filter) (n uint64, fixed bool) {
	look(f, "", func(f *redisbloom.Filter) {
		o, info := f.Options(), f.Info()
		fixed = o.NonScaling
		if info.Items < info.Capacity {
			n = info.Capacity - info.Items
		}
	})
	return n, fixed
}
