package distinct

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/umbel-filters/umbel"
)

// Margin is the share by which [Counter.Plan] exceeds an estimate: four standard errors.
const Margin = 4 * Error

// Counter counts different digests, and stores them while there is room for them. When there is none it goes on with a sketch, or
// passes digests to a function. A set takes much more time than a sketch, so the first digests are only collected until
// there are too many for a set, unless their repetitions are stored or a function takes them.
type Counter struct {
	room    uint64 // bytes
	repeats bool   // repetitions are stored
	full    func() (add func([]umbel.Digest) error, err error)
	read    atomic.Uint64

	next   atomic.Pointer[func([]umbel.Digest) error] // nil while there is room
	sketch *Sketches                                  // nil while there is room, or if full is given
	mu     sync.Mutex
	first  *backlog // digests that are not in the set yet, nil if they go to the set at once
	set    *Set     // nil when there is no more room
	list   []uint32 // if repeats, the index in set of each digest
}

// NewCounter returns a Counter with room for that many bytes. If repeats is set, Pour returns digests as often as they were
// added. The function full, unless nil, is called when there is no more room. It may call Pour, and returns the function to
// which all further digests are passed, by any goroutine.
func NewCounter(room uint64, repeats bool, full func() (add func([]umbel.Digest) error, err error)) *Counter {
	c := &Counter{room: room, repeats: repeats, full: full, set: new(Set)}
	if full == nil && !repeats {
		c.first = new(backlog)
	}
	return c
}

// Add counts digests. It is safe to call concurrently with itself. The error is that of full or of its function.
func (c *Counter) Add(ds []umbel.Digest) error {
	c.read.Add(uint64(len(ds)))
	if next := c.next.Load(); next != nil {
		return (*next)(ds)
	}
	c.mu.Lock()
	if next := c.next.Load(); next != nil { // since the first load
		c.mu.Unlock()
		return (*next)(ds)
	}
	defer c.mu.Unlock()
	if c.first == nil {
		return c.store(ds)
	}
	c.first.add(ds)
	if c.first.n <= Capacity(c.room)*33/32 {
		return nil
	}
	sketch := c.first.sketch()
	if sketch.Estimate() > float64(Capacity(c.room))*(1+Margin) {
		c.first = nil
		c.goOn(sketch)
		return nil
	}
	return c.settle(sketch)
}

// goOn continues with a sketch.
func (c *Counter) goOn(s *Sketches) {
	c.sketch, c.set, c.list = s, nil, nil
	next := func(ds []umbel.Digest) error {
		s.AddAll(ds)
		return nil
	}
	c.next.Store(&next)
}

// settle moves the collected digests to the set, and to the counter's sketch once the set was dropped. sketch has
// the same digests.
func (c *Counter) settle(sketch *Sketches) error {
	first := c.first
	c.first = nil
	c.set.Reserve(uint64(sketch.Estimate() * (1 - Margin)))
	for i, ds := range first.chunks {
		if c.set == nil {
			c.sketch.AddAll(ds)
		} else if err := c.store(ds); err != nil {
			return err
		}
		first.chunks[i] = nil
	}
	return nil
}

// store adds digests to the set, and leaves it if there is no more room.
func (c *Counter) store(ds []umbel.Digest) error {
	for _, d := range ds {
		i := c.set.Add(d)
		if c.repeats {
			c.list = append(c.list, i)
		}
	}
	if c.set.Bytes()+4*uint64(len(c.list)) <= c.room {
		return nil
	}
	if c.full == nil {
		s := new(Sketches)
		s.AddAll(c.set.Digests())
		c.goOn(s)
		return nil
	}
	next, err := c.full()
	if err == nil {
		c.set, c.list = nil, nil
		c.next.Store(&next)
	}
	return err
}

// Pour passes the stored digests to add, in batches unless repetitions were not stored, and returns false if they are not
// stored. It may not run concurrently with Add, but the function full may call it.
func (c *Counter) Pour(add func([]umbel.Digest) error) (stored bool, err error) {
	c.end()
	if c.set == nil {
		return false, nil
	}
	ds := c.set.Digests()
	if !c.repeats {
		return true, add(ds)
	}
	batch := make([]umbel.Digest, 0, pourBatch)
	for list := range slices.Chunk(c.list, pourBatch) {
		batch = batch[:0]
		for _, i := range list {
			batch = append(batch, ds[i])
		}
		if err := add(batch); err != nil {
			return true, err
		}
	}
	return true, nil
}

// pourBatch is the number of digests that Pour copies at once.
const pourBatch = 1024

// end moves collected digests to the set, or to a sketch.
func (c *Counter) end() {
	if c.first != nil {
		_ = c.settle(c.first.sketch()) // can't fail: without full only
	}
}

// Read returns the number of digests that were added, with their repetitions.
func (c *Counter) Read() uint64 { return c.read.Load() }

// Stored returns the number of different digests in the set.
func (c *Counter) Stored() uint64 {
	if c.set == nil {
		return 0
	}
	return uint64(len(c.set.Digests()))
}

// Count returns the number of different digests, and whether it is estimated. It may not run concurrently with Add. It
// returns 0 after a call of the function full.
func (c *Counter) Count() (n uint64, estimated bool) {
	c.end()
	if c.sketch != nil {
		return min(uint64(math.Round(c.sketch.Estimate())), c.Read()), true
	}
	return c.Stored(), false
}

// Plan returns the number of digests to plan for. It is at least 1 and at least the number of different digests; for an
// estimate, except in one of 30,000 cases.
func (c *Counter) Plan() uint64 {
	n, estimated := c.Count()
	if estimated {
		n = min(uint64(math.Ceil(float64(n)*(1+Margin))), c.Read())
	}
	return max(n, 1)
}
