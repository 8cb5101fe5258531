package build

import (
	"io"
	"math"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/ability"
	"github.com/umbel-filters/umbel/cmd/internal/distinct"
)

// margin is the share by which a filter is planned larger than an estimate: four standard errors.
const margin = 4 * distinct.Error

// gather makes the filter for an unknown number of keys. An eighth of the memory is for the digests of
// the different keys. If they fit, the filter is as small as with their number. Otherwise files are
// read a second time, and the size follows from an estimate. The keys of a pipe are added to a filter of
// half of the memory, or one that grows, which is folded at the end; the rest is for its folds.
func (o Order) gather(files []*os.File, again []int64) (Result, error) {
	c, err := o.count(files, again)
	if err != nil {
		return Result{}, err
	}
	if b := c.base.Load(); b != nil {
		return b.finish(o, c.read)
	}
	o = o.withKeys(c.plan())
	var made Result
	if c.set != nil {
		made, err = o.fill(c.pour)
	} else if err = rewind(files, again); err == nil {
		o.Keys.Tick = nil // the progress bar was for the first pass
		made, err = o.fill(func(add func([]umbel.Digest) error) (uint64, error) { return o.Keys.Run(readers(files), add) })
	}
	made.Read = c.read
	made.Distinct, made.Estimated = c.distinct()
	return made, err
}

// count reads the files and counts their different keys.
func (o Order) count(files []*os.File, again []int64) (*census, error) {
	c := o.newCensus(again != nil)
	read, err := o.Keys.Run(readers(files), c.add)
	c.read = read
	return c, err
}

// newCensus returns an empty census; files is whether the keys can be read again.
func (o Order) newCensus(files bool) *census {
	return &census{order: o, room: o.Memory / 8, files: files, repeats: o.countsRepetitions(), set: new(distinct.Set)}
}

// countsRepetitions reports whether the filter counts how often a key was added.
func (o Order) countsRepetitions() bool {
	return slices.ContainsFunc(ability.Who[umbel.Remover](umbel.Kinds{o.Kind}), func(t ability.Taker) bool {
		_, given := o.Params.Get(t.Param)
		return given || t.Param == ""
	})
}

// census counts different digests, and stores them while there is room. When there is none, those of
// files go on to a sketch, and those of a pipe to a base.
type census struct {
	order   Order
	room    uint64 // bytes
	files   bool   // the keys can be read again
	repeats bool   // the filter counts repetitions
	read    uint64 // keys, at the end

	base   atomic.Pointer[base]
	mu     sync.Mutex
	set    *distinct.Set    // nil when there is no more room
	list   []uint32         // if repeats, the index in set of each digest
	sketch *distinct.Sketch // nil while there is room
}

// add counts digests. It is safe for concurrent use.
func (c *census) add(ds []umbel.Digest) error {
	if b := c.base.Load(); b != nil {
		return b.add(ds)
	}
	c.mu.Lock()
	if b := c.base.Load(); b != nil { // changed since the load above
		c.mu.Unlock()
		return b.add(ds)
	}
	defer c.mu.Unlock()
	if c.sketch != nil {
		c.sketch.AddAll(ds)
		return nil
	}
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
		c.sketch = new(distinct.Sketch)
		c.sketch.AddAll(c.set.Digests())
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
	if c.sketch == nil {
		return uint64(len(c.set.Digests())), false
	}
	return min(uint64(math.Round(c.sketch.Estimate())), c.read), true
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

// offsets returns the offsets of regular files, and nil if one of the files is a pipe.
func offsets(files []*os.File) []int64 {
	again := []int64{}
	for _, f := range files {
		offset, err := f.Seek(0, io.SeekCurrent)
		if _, regular := Remaining(f); !regular || err != nil {
			return nil
		}
		again = append(again, offset)
	}
	return again
}

// rewind sets the offsets of files.
func rewind(files []*os.File, offsets []int64) error {
	for i, f := range files {
		if _, err := f.Seek(offsets[i], io.SeekStart); err != nil {
			return err
		}
	}
	return nil
}
