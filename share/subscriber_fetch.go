package share

import (
	"context"
	"errors"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// fetcher gets the version of a head: by the cheapest path from the local version or from a snapshot. If an object
// cannot be used, it takes the next best path.
type fetcher struct {
	applier
	resync func(what string, err error) // called when a path fails and another is tried; nil ignores it
}

// indexes are the index of a head and its page, once they were fetched.
type indexes map[Ref][]byte

// maxTries is the number of paths by the index that are tried.
const maxTries = 4

// fetch returns the version of a head. It gets indexes from fetched and adds those that arrive, unless that is nil.
func (f *fetcher) fetch(ctx context.Context, h *Head, from local, fetched indexes) (local, error) {
	if limit := f.limits.Bytes; h.Bytes > limit {
		return local{}, sentinel.Errorf(umbel.ErrLimit, "the filter takes %d bytes of memory, the limit is %d: raise the limit", h.Bytes, limit)
	}
	if from.head != nil && from.head.ID == h.ID {
		from.head = h
		return from, nil
	}
	from, err := from.unpacked()
	if err != nil {
		return local{}, err
	}
	start := from.start(h)
	if p, ok := start.direct(h); ok {
		got, _, err := f.apply(ctx, h, from, p)
		if err == nil || isFinal(ctx, err) {
			return got, err
		}
		f.failed("the delta of the head", err)
	}
	x, err := f.index(ctx, h, start, fetched)
	if err != nil {
		return local{}, err
	}
	err = sentinel.Errorf(ErrCorrupt, "the index of version %d leads nowhere", h.Version)
	for range maxTries {
		p, _, ok := cheapest(from.starts(h, x, start), x.Deltas, h.Version)
		if !ok {
			break
		}
		got, failed, pathErr := f.apply(ctx, h, from, p)
		if pathErr == nil || isFinal(ctx, pathErr) {
			return got, pathErr
		}
		f.failed("a path of the index", pathErr)
		err = pathErr
		if failed < 0 && p.isLocal() {
			start, from.head = nil, nil
		} else {
			x.remove(p.objects[max(failed, 0)].Ref)
		}
	}
	return local{}, err
}

// isFinal reports whether no other path can help after an error.
func isFinal(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, ErrBudget)
}

// failed notes that a part of a version cannot be used.
func (f *fetcher) failed(what string, err error) {
	if f.resync != nil {
		f.resync(what, err)
	}
}

// index returns the index of a head, with the deltas of the page for the start.
func (f *fetcher) index(ctx context.Context, h *Head, start *pathStart, fetched indexes) (*Index, error) {
	if _, ok := fetched[h.Index]; !ok {
		if err := f.pay(h.Index.Bytes); err != nil {
			return nil, err
		}
	}
	x, err := readIndex(ctx, f.source, h.Index, fetched)
	if err != nil || start == nil {
		return x, err
	}
	ref, ok := x.page(page(start.version))
	if !ok {
		return x, nil
	}
	p, err := readIndex(ctx, f.source, ref, fetched)
	if err != nil {
		if ctx.Err() == nil {
			f.failed("the page of the index", err)
			err = nil
		}
		return x, err
	}
	x.Deltas = append(x.Deltas, p.Deltas...)
	slices.SortFunc(x.Deltas, compareDeltas)
	x.Deltas = slices.Compact(x.Deltas)
	return x, nil
}

// readIndex reads an index or a page, unless it was fetched before.
func readIndex(ctx context.Context, source Source, ref Ref, fetched indexes) (*Index, error) {
	if ref.Bytes > maxIndex {
		return nil, sentinel.Errorf(ErrCorrupt, "an index of %d bytes, want at most %d", ref.Bytes, maxIndex)
	}
	b, ok := fetched[ref]
	if !ok {
		var err error
		if b, err = fetch(ctx, source, ref); err != nil {
			return nil, err
		}
		if fetched != nil {
			fetched[ref] = b
		}
	}
	x := new(Index)
	return x, x.UnmarshalBinary(b)
}
