package httpcache

import (
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/maypok86/otter/v2"
)

// Observer learns what a cache holds. Its method is called in the order of the changes of a key, and must return at once: it
// runs while the entry is locked.
type Observer interface {
	// Changed is called when a response for a key is stored, validated or removed, with all responses for the key before and
	// after. Each list is empty if there are none.
	Changed(key string, before, after []Response)
}

// Response is a stored response. Its fields must not be changed.
type Response struct {
	Header   http.Header
	Selected http.Header // the fields of the request that Vary names
	Until    time.Time   // when it becomes stale
}

// maxVariants is the largest number of responses for one key that Vary distinguishes.
const maxVariants = 32

// resource has the stored responses for one key, the newest first. It does not change.
type resource struct{ variants []*stored }

// index finds stored responses, and evicts those that are used least when they take too much space.
type index struct {
	cache    *otter.Cache[string, *resource]
	observer Observer
	bodies   bodies
	stats    *Stats
}

// newIndex returns an index of at most size bytes. The observer may be nil.
func newIndex(b bodies, size int64, observer Observer, stats *Stats) (*index, error) {
	x := &index{observer: observer, bodies: b, stats: stats}
	cache, err := otter.New(&otter.Options[string, *resource]{
		MaximumWeight:    uint64(max(1, size/b.unit())),
		Weigher:          func(_ string, r *resource) uint32 { return x.weigh(r) },
		OnAtomicDeletion: x.deleted,
		OnDeletion:       x.clear,
	})
	x.cache = cache
	return x, err
}

// weigh returns the weight of a resource in units of the store. A body on disk does not weigh its header, which is in
// memory: it is rounded up to the unit of 4 KiB instead.
func (x *index) weigh(r *resource) uint32 {
	weight, unit := int64(0), x.bodies.unit()
	for _, s := range r.variants {
		weight += (s.body.size() + s.weight() + unit - 1) / unit
	}
	return uint32(min(weight, math.MaxUint32))
}

// find returns the stored response that a request selects, with the latest date if there are several (RFC 9111, section 4), and
// the responses that are stored for the key.
func (x *index) find(key string, request http.Header) (s *stored, known *resource) {
	r, ok := x.cache.GetIfPresent(key)
	if !ok {
		return nil, nil
	}
	names, variant := []string(nil), ""
	for _, v := range r.variants {
		if !slices.Equal(names, v.names) {
			names, variant = v.names, variantOf(v.names, request)
		}
		if v.variant == variant && (s == nil || v.policy.date.After(s.policy.date)) {
			s = v
		}
	}
	return s, r
}

// selected returns the stored responses that a request selects, the one with the latest date first.
func (x *index) selected(key string, request http.Header) (list []*stored) {
	r, _ := x.cache.GetIfPresent(key)
	if r == nil {
		return nil
	}
	for _, s := range r.variants {
		if s.matches(request) {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b *stored) int { return b.policy.date.Compare(a.policy.date) })
	return list
}

// names returns the fields that select one of the responses.
func (r *resource) names() []string {
	if r == nil {
		return nil
	}
	return r.variants[0].names
}

// put stores the response to a request and removes all other responses that the request selects. If old is not nil, the response
// has the body of old, which must still be stored. It is not stored if valid, which is called while the entry is locked,
// returns false.
func (x *index) put(s *stored, request http.Header, old *stored, valid func() bool) (ok bool) {
	var dropped []*stored
	x.cache.Compute(s.key, func(before *resource, found bool) (*resource, otter.ComputeOp) {
		dropped = nil // the function may run again
		if ok = valid() && (old == nil || found && before.has(old)); !ok {
			return nil, otter.CancelOp
		}
		variants := []*stored{s}
		if found {
			for _, v := range before.variants {
				switch {
				case sameBody(v, s):
				case v.matches(request) || len(variants) == maxVariants:
					dropped = append(dropped, v)
				default:
					variants = append(variants, v)
				}
			}
		}
		now := &resource{variants}
		x.changed(s.key, before, now)
		return now, otter.WriteOp
	})
	for _, v := range dropped {
		v.body.remove()
	}
	return ok
}

// restore adds a response that an earlier process has stored, unless one has been stored for the same requests, or valid returns
// false.
func (x *index) restore(s *stored, valid func() bool) {
	remove := false
	x.cache.Compute(s.key, func(before *resource, found bool) (*resource, otter.ComputeOp) {
		now := &resource{[]*stored{s}}
		if remove = !valid(); remove {
			return nil, otter.CancelOp
		}
		if found {
			for _, v := range before.variants {
				if sameBody(v, s) { // the file was found after it was stored
					return nil, otter.CancelOp
				}
				if remove = v.variant == s.variant && slices.Equal(v.names, s.names); remove {
					return nil, otter.CancelOp
				}
			}
			if remove = len(before.variants) == maxVariants; remove {
				return nil, otter.CancelOp
			}
			now.variants = append(slices.Clone(before.variants), s)
		}
		x.changed(s.key, before, now)
		return now, otter.WriteOp
	})
	if remove {
		s.body.remove()
	}
}

// has reports whether a response is stored, or one with its body that a validation has put in its place.
func (r *resource) has(s *stored) bool {
	return slices.ContainsFunc(r.variants, func(v *stored) bool { return sameBody(v, s) })
}

// changed informs the observer. Each resource may be nil.
func (x *index) changed(key string, before, after *resource) {
	if x.observer != nil {
		x.observer.Changed(key, before.responses(), after.responses())
	}
}

// responses returns what an observer learns of a resource.
func (r *resource) responses() []Response {
	if r == nil {
		return nil
	}
	list := make([]Response, len(r.variants))
	for i, s := range r.variants {
		list[i] = Response{s.header, s.selected, s.policy.until()}
	}
	return list
}

// sameBody reports whether two responses have the same body: one is the other after a validation, or a file was found
// while it was stored.
func sameBody(a, b *stored) bool {
	if a, ok := a.body.(*fileBody); ok {
		b, ok := b.body.(*fileBody)
		return ok && a.path == b.path
	}
	return a.body == b.body
}

// remove removes all responses for a key, and reports whether there were any.
func (x *index) remove(key string) bool {
	r, removed := x.cache.Invalidate(key)
	if removed {
		for _, s := range r.variants {
			s.body.remove() // now, and not only when clear runs: the process may end before
		}
	}
	return removed
}

// drop removes one response.
func (x *index) drop(s *stored) {
	x.cache.ComputeIfPresent(s.key, func(r *resource) (*resource, otter.ComputeOp) {
		left := slices.DeleteFunc(slices.Clone(r.variants), func(v *stored) bool { return v.body == s.body })
		if len(left) == 0 {
			return nil, otter.InvalidateOp
		}
		now := &resource{left}
		x.changed(s.key, r, now)
		return now, otter.WriteOp
	})
	s.body.remove()
}

// deleted informs the observer. A replaced resource is not deleted.
func (x *index) deleted(e otter.DeletionEvent[string, *resource]) {
	if e.Cause != otter.CauseReplacement {
		x.changed(e.Key, e.Value, nil)
	}
}

// clear removes the bodies of a resource that was deleted. It runs without locks.
func (x *index) clear(e otter.DeletionEvent[string, *resource]) {
	if e.Cause == otter.CauseReplacement {
		return // put has removed the bodies that are not used any more
	}
	if e.Cause == otter.CauseOverflow {
		x.stats.Evicted.Add(1)
	}
	for _, s := range e.Value.variants {
		s.body.remove()
	}
}
