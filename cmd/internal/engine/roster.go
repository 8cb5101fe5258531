package engine

import (
	"cmp"
	"slices"
)

// roster is filters in the order of their IDs. They are made in that order; those that
// come otherwise, after a restart, are put in their place with the next look at it.
type roster struct {
	all    []*Filter
	mixed  bool // all isn't in order
	absent int  // of all: filters that were removed, and are left until there are many
}

func (r *roster) add(f *Filter) {
	r.mixed = r.mixed || len(r.all) > 0 && r.all[len(r.all)-1].id > f.id
	r.all = append(r.all, f)
	f.listed = true
}

func (r *roster) remove(f *Filter) {
	if !f.listed {
		return
	}
	f.listed = false
	if r.absent++; r.absent > len(r.all)/2 {
		r.all = slices.DeleteFunc(r.all, func(f *Filter) bool { return !f.listed })
		r.absent = 0
	}
}

// order puts the filters in order.
func (r *roster) order() {
	if r.mixed {
		slices.SortFunc(r.all, func(a, b *Filter) int { return cmp.Compare(a.id, b.id) })
		r.mixed = false
	}
}

// at returns where a filter with that ID or a greater one is. The roster is in order.
func (r *roster) at(id uint64) int {
	i, _ := slices.BinarySearchFunc(r.all, id, func(f *Filter, id uint64) int { return cmp.Compare(f.id, id) })
	return i
}

// find returns the filter with that ID, or nil.
func (r *roster) find(id uint64) *Filter {
	if i := r.at(id); i < len(r.all) && r.all[i].id == id && r.all[i].listed {
		return r.all[i]
	}
	return nil
}

// from returns up to n filters from that ID on.
func (r *roster) from(id uint64, n int) []*Filter {
	var fs []*Filter
	for _, f := range r.all[r.at(id):] {
		if len(fs) == n {
			break
		}
		if f.listed {
			fs = append(fs, f)
		}
	}
	return fs
}
