package redisbloom

import (
	"errors"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/cuckoo"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// added is the result of adding an item.
type added int64

// The numbers are the replies of CF.INSERTNX.
const (
	addedNow   added = 1
	addedThere added = 0
	addedNot   added = -1
)

// cuckooAdd implements CF.ADD.
func (m *Module) cuckooAdd(c *resp.Conn, args [][]byte) {
	m.cuckooAddOne(c, args, false)
}

// cuckooAddNX implements CF.ADDNX.
func (m *Module) cuckooAddNX(c *resp.Conn, args [][]byte) {
	m.cuckooAddOne(c, args, true)
}

func (m *Module) cuckooAddOne(c *resp.Conn, args [][]byte, absent bool) {
	o := m.settings.Load().cuckoo()
	result, problem := m.cuckooAddAll(c, args[1], args[2:3], cuckooInsertion{Options: o}, absent)
	if problem != "" {
		c.Error(problem)
		return
	}
	c.Bool(result[0] == addedNow)
}

// cuckooInsert implements CF.INSERT.
func (m *Module) cuckooInsert(c *resp.Conn, args [][]byte) {
	m.cuckooInsertAll(c, args, "cf.insert", false)
}

// cuckooInsertNX implements CF.INSERTNX, which replies numbers in all protocol versions.
func (m *Module) cuckooInsertNX(c *resp.Conn, args [][]byte) {
	m.cuckooInsertAll(c, args, "cf.insertnx", true)
}

func (m *Module) cuckooInsertAll(c *resp.Conn, args [][]byte, name string, absent bool) {
	o, problem := cuckooInsertOptions(args[2:], m.settings.Load(), name)
	var results []added
	if problem == "" {
		results, problem = m.cuckooAddAll(c, args[1], args[2+o.items:], o, absent)
	}
	if problem != "" && problem != cuckooFull && problem != cuckooExpansions {
		c.Error(problem)
		return
	}
	c.Array(len(results))
	for _, r := range results {
		if absent || c.Version() == 2 {
			c.Int(int64(r))
		} else {
			c.Bool(r == addedNow)
		}
	}
}

// cuckooAddAll adds items one by one, only absent ones if absent is set. problem is the reason why an item failed;
// the items after it were not tried.
func (m *Module) cuckooAddAll(c *resp.Conn, name []byte, items [][]byte, o cuckooInsertion, absent bool) (results []added, problem string) {
	for range attempts {
		f, problem := m.cuckooTarget(c, name, o)
		if problem != "" {
			return nil, problem
		}
		results, err := cuckooAddTo(c, f, digests(f.Hasher(), items), absent)
		switch {
		case err == nil:
			return results, ""
		case !errors.Is(err, engine.ErrNotFound): // if it was deleted, all items go to a new one
			return results, cuckooAddProblem(f, err)
		}
	}
	return nil, notFound
}

// cuckooAddTo adds digests to a filter and returns a result for each.
func cuckooAddTo(c *resp.Conn, f *engine.Filter, ds []umbel.Digest, absent bool) (results []added, err error) {
	results = make([]added, len(ds))
	for i := range results {
		results[i] = addedNot
	}
	if !absent {
		n, pos, err := f.Add(nil, ds)
		c.Commit(uint64(pos))
		for i := range n {
			results[i] = addedNow
		}
		return results, err
	}
	fresh := make([]bool, len(ds))
	n, pos, err := f.AddAbsent(fresh, ds)
	c.Commit(uint64(pos))
	for i := range n {
		if results[i] = addedThere; fresh[i] {
			results[i] = addedNow
		}
	}
	return results, err
}

// cuckooTarget returns the filter for the items, which it makes with o if it is missing.
func (m *Module) cuckooTarget(c *resp.Conn, name []byte, o cuckooInsertion) (f *engine.Filter, problem string) {
	return m.findOrMake(c, name, true, o.noCreate, func() (*engine.Filter, engine.Position, error) {
		return m.cuckooCreate(name, o.Options)
	})
}

// cuckooAddProblem returns the reply for an item that f refuses.
func cuckooAddProblem(f *engine.Filter, err error) string {
	switch {
	case errors.Is(err, engine.ErrReadOnly):
		return command.Text(err)
	case errors.Is(err, engine.ErrMemory):
		return outOfMemory
	case !errors.Is(err, umbel.ErrLimit):
		return command.Text(err)
	}
	text := cuckooExpansions
	look(f, "", func(f *cuckoo.Filter) {
		if f.Expansion == 0 {
			text = cuckooFull
		}
	})
	return text
}

// cuckooExists implements CF.EXISTS.
func (m *Module) cuckooExists(c *resp.Conn, args [][]byte) {
	there, err := m.cuckooHas(args[1], args[2:])
	if err != nil {
		command.Fail(c, err)
		return
	}
	c.Bool(there[0])
}

// cuckooExistMany implements CF.MEXISTS.
func (m *Module) cuckooExistMany(c *resp.Conn, args [][]byte) {
	there, err := m.cuckooHas(args[1], args[2:])
	if err != nil {
		command.Fail(c, err)
		return
	}
	c.Array(len(there))
	for _, yes := range there {
		c.Bool(yes)
	}
}

// cuckooHas answers false if there is no filter of CF.*.
func (m *Module) cuckooHas(name []byte, items [][]byte) (there []bool, err error) {
	there = make([]bool, len(items))
	if f := m.cuckooOf(name); f != nil {
		err = f.Has(there, digests(f.Hasher(), items))
	}
	return there, err
}

func digests(h umbel.Hasher, items [][]byte) []umbel.Digest {
	ds := make([]umbel.Digest, len(items))
	for i, item := range items {
		ds[i] = h.HashBytes(item)
	}
	return ds
}

// cuckooCount implements CF.COUNT.
func (m *Module) cuckooCount(c *resp.Conn, args [][]byte) {
	var n [1]uint64
	if f := m.cuckooOf(args[1]); f != nil {
		if err := f.Count(n[:], digests(f.Hasher(), args[2:])); err != nil && !errors.Is(err, engine.ErrNotFound) {
			command.Fail(c, err)
			return
		}
	}
	c.Int(clipped(n[0]))
}

// cuckooDelete implements CF.DEL.
func (m *Module) cuckooDelete(c *resp.Conn, args [][]byte) {
	f := m.cuckooOf(args[1])
	if f == nil {
		c.Error(cuckooMissing)
		return
	}
	if err := checkComplete(f); err != nil {
		command.Fail(c, err)
		return
	}
	var removed [1]bool
	pos, err := f.Remove(removed[:], digests(f.Hasher(), args[2:]))
	c.Commit(uint64(pos))
	switch {
	case errors.Is(err, engine.ErrNotFound):
		c.Error(cuckooMissing)
	case err != nil:
		command.Fail(c, err)
	default:
		c.Bool(removed[0])
	}
}
