package build

import (
	"io"
	"os"

	"github.com/umbel-filters/umbel"
)

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
	c.end(read)
	return c, err
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
