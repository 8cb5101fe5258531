package engine

import (
	"cmp"
	"slices"
)

// roster is filters in the order of their IDs. They are made in that order; those that
// come otherwise, after a restart, are put in their place with the next look at it.
type roster struct {
	all    []seat
	mixed  bool // all isn't in order
	absent int  // of all: seats of filters that were removed, which are left until there are many
}

// seat is where a filter is, or was: then it keeps nothing of it.
type seat struct {
	id     uint64
	filter *Filter // nil if it was removed
}

func (r *roster) add(f *Filter) {
	r.mixed = r.mixed || len(r.all) > 0 && r.all[len(r.all)-1].id > f.id
	r.all = append(r.all, seat{f.id, f})
}

func (r *roster) remove(f *Filter) {
	r.order()
	i := r.at(f.id)
	if i == len(r.all) || r.all[i].filter != f {
		return
	}
	r.all[i].filter = nil
	if r.absent++; r.absent > len(r.all)/2 {
		r.all = slices.DeleteFunc(r.all, func(s seat) bool { return s.filter == nil })
		r.absent = 0
	}
}

// order puts the filters in order.
func (r *roster) order() {
	if r.mixed {
		slices.SortFunc(r.all, func(a, b seat) int { return cmp.Compare(a.id, b.id) })
		r.mixed = false
	}
}

// at returns where a filter with that ID or a greater one is. The roster is in order.
func (r *roster) at(id uint64) int {
	i, _ := slices.BinarySearchFunc(r.all, id, func(s seat, id uint64) int { return cmp.Compare(s.id, id) })
	return i
}

// find returns the filter with that ID, or nil.
func (r *roster) find(id uint64) *Filter {
	if i := r.at(id); i < len(r.all) && r.all[i].id == id {
		return r.all[i].filter
	}
	return nil
}

// from returns up to n filters from that ID on.
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
