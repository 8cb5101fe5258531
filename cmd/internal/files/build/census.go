package build

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/ability"
	"github.com/umbel-filters/umbel/cmd/internal/files/distinct"
)

// margin is the share by which a filter is planned larger than an estimate: four standard errors.
const margin = 4 * distinct.Error

// newCensus returns an empty census; files is whether the keys can be read again.
func (o Order) newCensus(files bool) *census {
	c := &census{order: o, room: o.Memory / 8, files: files, repeats: o.countsRepetitions(), set: new(distinct.Set)}
	if c.files && !c.repeats {
		c.first = new(backlog)
	}
	return c
}

// countsRepetitions reports whether the filter counts how often a key was added.
func (o Order) countsRepetitions() bool {
	return slices.ContainsFunc(ability.Who[umbel.Remover](umbel.Kinds{o.Kind}), func(t ability.Taker) bool {
		_, given := o.Params.Get(t.Param)
		return given || t.Param == ""
	})
}

// census counts different digests, and stores them while there is room. When there is none, those of
// files go on to a sketch, and those of a pipe to a base. A set takes much more time than a sketch, so the first digests
// of files are only collected until there are too many for a set.
type census struct {
	order   Order
	room    uint64 // bytes
	files   bool   // the keys can be read again
	repeats bool   // the filter counts repetitions
	read    uint64 // keys, at the end

	base   atomic.Pointer[base]
	sketch atomic.Pointer[distinct.Sketches] // nil while there is room
	mu     sync.Mutex
	first  *backlog      // digests that are not in the set yet, nil if they go to the set at once
	set    *distinct.Set // nil when there is no more room
	list   []uint32      // if repeats, the index in set of each digest
}

// add counts digests. It is safe for concurrent use.
func (c *census) add(ds []umbel.Digest) error {
	if done, err := c.pass(ds); done {
		return err
	}
	c.mu.Lock()
	if c.set == nil { // changed since the call of pass
		c.mu.Unlock()
		_, err := c.pass(ds)
		return err
	}
	defer c.mu.Unlock()
	if c.first == nil {
		return c.store(ds)
	}
	c.first.add(ds)
	if c.first.n <= distinct.Capacity(c.room)*33/32 {
		return nil
	}
	sketch := c.first.sketch()
	if sketch.Estimate() > float64(distinct.Capacity(c.room))*(1+margin) {
		c.first, c.set = nil, nil
		c.sketch.Store(sketch)
		return nil
	}
	return c.settle(sketch)
}

// pass passes digests on to where they go when there is no room, and returns false while there is.
func (c *census) pass(ds []umbel.Digest) (bool, error) {
	if b := c.base.Load(); b != nil {
		return true, b.add(ds)
	}
	if s := c.sketch.Load(); s != nil {
		s.AddAll(ds)
		return true, nil
	}
	return false, nil
}

// settle moves the collected digests, of which it takes a sketch, to the set.
func (c *census) settle(sketch *distinct.Sketches) error {
	first := c.first
	c.first = nil
	c.set.Reserve(uint64(sketch.Estimate() * (1 - margin)))
	for i, ds := range first.chunks {
		if c.set == nil {
			c.sketch.Load().AddAll(ds)
		} else if err := c.store(ds); err != nil {
			return err
		}
		first.chunks[i] = nil
	}
	return nil
}

// store adds digests to the set, and leaves it if there is no more room.
func (c *census) store(ds []umbel.Digest) error {
	for _, d := range ds {
		i := c.set.Add(d)
		if c.repeats {
			c.list = append(c.list, i)
		}
	}
	if c.set.Bytes()+4*uint64(len(c.list)) <= c.room {
		return nil
	}
	return c.leave()
}

// leave moves the digests to a sketch or to a base.
func (c *census) leave() error {
	if c.files {
		s := new(distinct.Sketches)
		s.AddAll(c.set.Digests())
		c.sketch.Store(s)
	} else {
		b, err := c.order.newBase(uint64(len(c.set.Digests())))
		if err != nil {
			return err
		}
		n, err := c.pour(b.insert)
		if err != nil {
			return err
		}
		b.read.Add(n)
		c.base.Store(b)
	}
	c.set, c.list = nil, nil
	return nil
}

// end ends the census after the given number of keys.
func (c *census) end(read uint64) {
	c.read = read
	if c.first != nil {
		_ = c.settle(c.first.sketch()) // can't fail, since keys of files have no base
	}
}

// pour passes the stored digests to add, and returns the number of different ones.
func (c *census) pour(add func([]umbel.Digest) error) (uint64, error) {
	ds := c.set.Digests()
	n := uint64(len(ds))
	if !c.repeats {
		return n, add(ds)
	}
	batch := make([]umbel.Digest, 0, pourBatch)
	for list := range slices.Chunk(c.list, pourBatch) {
		batch = batch[:0]
		for _, i := range list {
			batch = append(batch, ds[i])
		}
		if err := add(batch); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// pourBatch is the number of digests that pour copies at once.
const pourBatch = 1024

// distinct returns the number of different keys, and whether it is estimated.
func (c *census) distinct() (n uint64, estimated bool) {
	if s := c.sketch.Load(); s != nil {
		return min(uint64(math.Round(s.Estimate())), c.read), true
	}
	return uint64(len(c.set.Digests())), false
}

// plan returns the number of keys to plan for. It is at least the number of different keys; for an
// estimate, except in one of 30,000 cases.
func (c *census) plan() uint64 {
	n, estimated := c.distinct()
	if estimated {
		n = min(uint64(math.Ceil(float64(n)*(1+margin))), c.read)
	}
	return max(n, 1)
}
