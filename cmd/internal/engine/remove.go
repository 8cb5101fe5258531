package engine

import (
	"errors"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Remove removes one addition of each digest. removed may be nil; otherwise removed[i] reports
// whether an addition of ds[i] was removed: see umbel.Remover. It returns an error wrapping errors.ErrUnsupported if the kind
// cannot remove, or if classes of keys follow from prefixes.
func (f *Filter) Remove(removed []bool, ds []umbel.Digest) (Position, error) {
	if removed != nil {
		removed = removed[:len(ds):len(removed)]
	}
	if err := f.engine.checkWritable(); err != nil {
		return 0, err
	}
	f.markUsed()
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	for from := 0; from < len(ds); {
		to := min(len(ds), from+maxBatch)
		found := s.changed[:to-from]
		if removed != nil {
			found = removed[from:to]
		}
		if err := f.removeSome(found, ds[from:to]); err != nil {
			return f.position(), err
		}
		f.ownExtra().removed.Add(uint64(countTrue(found)))
		from = to
	}
	return f.position(), nil
}

func (f *Filter) removeSome(removed []bool, ds []umbel.Digest) error {
	if err := f.lock(); err != nil {
		return err
	}
	defer f.changes.Unlock()
	r, ok := f.filter.(umbel.Remover)
	if !ok {
		return f.unsupported("remove")
	}
	if err := f.CheckComplete(); err != nil {
		return err
	}
	if c, ok := f.filter.(umbel.Classifier); ok {
		if _, byKey := c.Class(nil); byKey {
			return sentinel.Errorf(errors.ErrUnsupported,
				"the classes of this filter are those of prefixes, and a digest does not show with which class its key was added: remove keys in a file with umbel remove")
		}
	}
	f.cells.Lock()
	for i, d := range ds {
		removed[i] = r.Remove(d)
	}
	f.cells.Unlock()
	if countTrue(removed) > 0 {
		f.shape.Add(1)
		f.journalMarked(OpRemove, removed, ds)
		if f.mode() == predictsGrowth { // it may have shrunk
			f.recount()
		}
	}
	return nil
}

func (f *Filter) unsupported(what string) error {
	return sentinel.Errorf(errors.ErrUnsupported, "kind %s can't %s", f.Kind(), what)
}
