package engine

import (
	"cmp"
	"slices"
)

// roster is the list of filters in the order of their IDs. Large filters, and all filters after a
// restart, may arrive in another order; the list is then sorted when it is read.
type roster struct {
	all      []slot
	unsorted bool // all is not sorted
	removed  int  // number of slots of removed filters
}

// slot is the place of a filter in the list.
type slot struct {
	id     uint64
	filter *Filter // nil if it was removed
}

func (r *roster) add(f *Filter) {
	r.unsorted = r.unsorted || len(r.all) > 0 && r.all[len(r.all)-1].id > f.id
	r.all = append(r.all, slot{f.id, f})
}

func (r *roster) remove(f *Filter) {
	r.sort()
	i := r.at(f.id)
	if i == len(r.all) || r.all[i].filter != f {
		return
	}
	r.all[i].filter = nil
	if r.removed++; r.removed > len(r.all)/2 {
		r.all = slices.DeleteFunc(r.all, func(s slot) bool { return s.filter == nil })
		r.removed = 0
	}
}

// sort sorts the filters by ID.
func (r *roster) sort() {
	if r.unsorted {
		slices.SortFunc(r.all, func(a, b slot) int { return cmp.Compare(a.id, b.id) })
		r.unsorted = false
	}
}

// at returns the index of the first slot with this ID or a greater one. The list must be sorted.
func (r *roster) at(id uint64) int {
	i, _ := slices.BinarySearchFunc(r.all, id, func(s slot, id uint64) int { return cmp.Compare(s.id, id) })
	return i
}

// find returns the filter with this ID, or nil.
func (r *roster) find(id uint64) *Filter {
	if i := r.at(id); i < len(r.all) && r.all[i].id == id {
		return r.all[i].filter
	}
	return nil
}

// from returns at most n filters whose ID is at least id.
func (r *roster) from(id uint64, n int) []*Filter {
	var fs []*Filter
	for _, s := range r.all[r.at(id):] {
		if len(fs) == n {
			break
		}
		if s.filter != nil {
			fs = append(fs, s.filter)
		}
	}
	return fs
}

// List calls yield with filters whose ID is at least cursor, in the order of their IDs, until
// yield returns false or n filters were visited. It returns the cursor for the next call, 0 after
// the last filter. A filter that exists during the whole iteration is visited exactly once. yield
// may call the engine. Expired filters are skipped but count for n.
func (e *Engine) List(cursor uint64, n int, yield func(*Filter) bool) uint64 {
	return e.ListAll(cursor, n, func(f *Filter) bool { return f.isExpired() || yield(f) })
}

// ListAll is List including expired filters, which exist until Sweep deletes them: if the clock
// is set back, they are no longer expired.
func (e *Engine) ListAll(cursor uint64, n int, yield func(*Filter) bool) uint64 {
	const some = 256
	for n > 0 {
		fs := e.filters(cursor, min(n, some))
		if len(fs) == 0 {
			return 0
		}
		for _, f := range fs {
			cursor = f.id + 1
			if !yield(f) {
				return cursor
			}
		}
		n -= len(fs)
	}
	return cursor
}

// filters returns at most n filters whose ID is at least id, in the order of their IDs.
func (e *Engine) filters(id uint64, n int) []*Filter {
	e.index.RLock()
	if !e.roster.unsorted {
		defer e.index.RUnlock()
		return e.roster.from(id, n)
	}
	e.index.RUnlock()
	e.index.Lock()
	defer e.index.Unlock()
	e.roster.sort()
	return e.roster.from(id, n)
}

// byID returns the filter with this ID, or nil.
func (e *Engine) byID(id uint64) *Filter {
	e.index.RLock()
	if !e.roster.unsorted {
		defer e.index.RUnlock()
		return e.roster.find(id)
	}
	e.index.RUnlock()
	e.index.Lock()
	defer e.index.Unlock()
	e.roster.sort()
	return e.roster.find(id)
}

// Pick returns a filter for a number, or nil if there is none. Random numbers select filters
// about uniformly if few filters were deleted.
func (e *Engine) Pick(n uint64) *Filter {
	e.index.RLock()
	defer e.index.RUnlock()
	all := e.roster.all
	for i := range all {
		f := all[(n%uint64(len(all))+uint64(i))%uint64(len(all))].filter
		if f != nil && !f.isExpired() {
			return f
		}
	}
	return nil
}

// NamesSince returns the names of all filters by ID, as of one moment, or nil if no filter was created,
// renamed or deleted after a position of SettleDirectory.
func (e *Engine) NamesSince(pos Position) map[uint64]string {
	e.directory.Lock()
	defer e.directory.Unlock()
	if Position(e.last.Load()) == pos {
		return nil
	}
	names := make(map[uint64]string, e.known())
	for _, f := range e.filters(0, e.known()) {
		names[f.id] = f.Name()
	}
	return names
}
