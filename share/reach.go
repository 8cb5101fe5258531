package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
)

// reacher fetches the state of a head.
type reacher struct {
	source  Source
	limits  wire.Limits
	kinds   umbel.Kinds                  // for folds
	afford  func(bytes uint64) error     // called before objects are fetched; nil permits all
	fetched func(r Ref, data []byte)     // called with each object of a recipe
	keep    bool                         // the bytes of snapshots are needed later
	note    func(what string, err error) // called when a way fails and another is tried
	indexes map[Ref][]byte               // those that were fetched; nil if they are not kept
}

// maxTries is the number of ways that are tried.
const maxTries = 4

// reach returns the state of a head, by the objects with the fewest bytes from what is held. If an
// object cannot be used, it takes the next best way.
func (r *reacher) reach(ctx context.Context, h *Head, have held) (held, error) {
	if limit := r.limits.Bytes; h.Bytes > limit {
		return held{}, fmt.Errorf("share: the filter takes %d bytes of memory, the limit is %d: raise the limit: %w", h.Bytes, limit, umbel.ErrLimit)
	}
	if have.head != nil && have.head.ID == h.ID {
		have.head = h
		return have, nil
	}
	if have.compact != nil {
		state, err := have.compact.Bloom()
		if err != nil {
			return held{}, fmt.Errorf("share: the last version: %w", err)
		}
		have.state, have.compact = state, nil
	}
	if have.pack != nil {
		state, err := wire.Parse(have.pack, r.limits)
		if err != nil {
			return held{}, fmt.Errorf("share: the last version: %w", err)
		}
		have.state, have.pack = state, nil
	}
	base := have.base(h)
	if way := base.direct(h); len(way) > 0 {
		got, _, err := r.walk(ctx, h, have, way)
		if err == nil || r.isFinal(ctx, err) {
			return got, err
		}
		r.note("the delta of the head", err)
	}
	x, err := r.index(ctx, h, base)
	if err != nil {
		return held{}, err
	}
	err = fmt.Errorf("share: the index of version %d leads nowhere: %w", h.Version, ErrCorrupt)
	for range maxTries {
		way, _ := cheapestFrom(have.starts(h, x, base), x.Deltas, h.Version)
		if len(way) == 0 {
			break
		}
		got, failed, wayErr := r.walk(ctx, h, have, way)
		if wayErr == nil || r.isFinal(ctx, wayErr) {
			return got, wayErr
		}
		r.note("a way of the index", wayErr)
		err = wayErr
		if (failed < 0 || way[failed].fold > 0) && !way[0].snapshot {
			base, have.head = nil, nil
		} else {
			x.remove(way[max(failed, 0)].Ref)
		}
	}
	return held{}, err
}

// isFinal reports whether no other way can help after an error.
func (r *reacher) isFinal(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, ErrBudget)
}

// index returns the index of a head, with the deltas of the page for the base.
func (r *reacher) index(ctx context.Context, h *Head, base *start) (*Index, error) {
	if _, ok := r.indexes[h.Index]; !ok {
		if err := r.pay(h.Index.Bytes); err != nil {
			return nil, err
		}
	}
	x, err := r.readIndex(ctx, h.Index)
	if err != nil || base == nil {
		return x, err
	}
	ref, ok := x.page(page(base.version))
	if !ok {
		return x, nil
	}
	p, err := r.readIndex(ctx, ref)
	if err != nil {
		if ctx.Err() == nil {
			r.note("the page of the index", err)
			err = nil
		}
		return x, err
	}
	x.Deltas = append(x.Deltas, p.Deltas...)
	slices.SortFunc(x.Deltas, compareDeltas)
	x.Deltas = slices.Compact(x.Deltas)
	return x, nil
}

// pay returns an error wrapping ErrBudget if bytes must not be fetched now.
func (r *reacher) pay(bytes uint64) error {
	if r.afford == nil {
		return nil
	}
	return r.afford(bytes)
}

func (r *reacher) readIndex(ctx context.Context, ref Ref) (*Index, error) {
	if ref.Bytes > maxIndex {
		return nil, fmt.Errorf("share: an index of %d bytes, want at most %d: %w", ref.Bytes, maxIndex, ErrCorrupt)
	}
	b, ok := r.indexes[ref]
	if !ok {
		var err error
		if b, err = fetch(ctx, r.source, ref); err != nil {
			return nil, err
		}
		if r.indexes != nil {
			r.indexes[ref] = b
		}
	}
	x := new(Index)
	return x, x.UnmarshalBinary(b)
}

// compareDeltas orders deltas by To, then by From.
func compareDeltas(a, b Delta) int {
	return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From))
}
