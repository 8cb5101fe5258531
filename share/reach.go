package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// held is a verified state. The zero held is none.
type held struct {
	head  *Head
	state umbel.State
	tree  *wire.Tree // of the state
	// compact is the state of a bloom filter with k = 1 as a list of positions. Then state and tree
	// are empty.
	compact *sparse.Filter
	// recipe are the objects that lead to the state: a snapshot and deltas.
	recipe []step
}

// reacher fetches the state of a head.
type reacher struct {
	source  Source
	limits  wire.Limits
	fetched func(ctx context.Context, r Ref, data []byte) error // called with each object of a recipe
	note    func(what string, err error)                        // called when a way fails and another is tried
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
	// If the publisher was set back, what is held is no base, even if it has the same version.
	// It is no base of another class either.
	earlier := have.head != nil && have.head.Stream == h.Stream && have.head.Fold == h.Fold && have.head.Version < h.Version
	if missed := h.Version - versionOf(have.head); earlier && missed <= uint64(len(h.Deltas)) {
		got, _, err := r.walk(ctx, h, have, []step{{h.Deltas[missed-1], h.Version, false}})
		if err == nil || r.isFinal(ctx, err) {
			return got, err
		}
		r.note("the delta of the head", err)
	}
	x, err := r.index(ctx, h, have, earlier)
	if err != nil {
		return held{}, err
	}
	err = fmt.Errorf("share: the index of version %d leads nowhere: %w", h.Version, ErrCorrupt)
	for range maxTries {
		way, _ := cheapest(x.Snapshots, x.Deltas, earlier, versionOf(have.head), h.Version)
		if len(way) == 0 {
			break
		}
		from := have
		if way[0].snapshot {
			from = held{}
		}
		got, failed, wayErr := r.walk(ctx, h, from, way)
		if wayErr == nil || r.isFinal(ctx, wayErr) {
			return got, wayErr
		}
		r.note("a way of the index", wayErr)
		err = wayErr
		if failed < 0 && !way[0].snapshot {
			earlier = false
		} else {
			x.remove(way[max(failed, 0)].Ref)
		}
	}
	return held{}, err
}

// isFinal reports whether no other way can help after an error.
func (r *reacher) isFinal(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, errKeep)
}

func versionOf(h *Head) uint64 {
	if h == nil {
		return 0
	}
	return h.Version
}

// index returns the index of a head, with the deltas of the page for what is held if that is a base.
func (r *reacher) index(ctx context.Context, h *Head, have held, earlier bool) (*Index, error) {
	x, err := r.readIndex(ctx, h.Index)
	if err != nil || !earlier {
		return x, err
	}
	ref, ok := x.page(page(have.head.Version))
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

func (r *reacher) readIndex(ctx context.Context, ref Ref) (*Index, error) {
	if ref.Bytes > maxIndex {
		return nil, fmt.Errorf("share: an index of %d bytes, want at most %d: %w", ref.Bytes, maxIndex, ErrCorrupt)
	}
	b, err := fetch(ctx, r.source, ref)
	if err != nil {
		return nil, err
	}
	x := new(Index)
	return x, x.UnmarshalBinary(b)
}

// walk fetches and applies the objects of a way from what is held, and verifies the result. If it
// fails, it returns the number of the step that failed, or -1 if the result is not that of the head.
//
// The state is verified in any case, so the hash of a snapshot is computed only if something is
// damaged.
func (r *reacher) walk(ctx context.Context, h *Head, have held, way []step) (held, int, error) {
	w := walker{reacher: r, head: h}
	got, failed, err := w.walk(ctx, have, way)
	if err == nil || w.snapshot == nil || !errors.Is(err, ErrCorrupt) && !errors.Is(err, umbel.ErrLimit) {
		return got, failed, err
	}
	if w.verified = RefOf(w.snapshot) == way[0].Ref; w.verified && !errors.Is(err, umbel.ErrLimit) {
		return got, failed, err
	}
	if !w.verified {
		if w.snapshot, err = verify(ctx, r.source, way[0].Ref, w.snapshot); err != nil {
			return held{}, 0, err
		}
		w.verified = true
	}
	return w.walk(ctx, have, way)
}

// walker takes the steps of a way.
type walker struct {
	*reacher
	head     *Head
	snapshot []byte // the object of the first step, if it is a snapshot and has arrived
	verified bool   // the hash of the snapshot was verified
}

func (w *walker) walk(ctx context.Context, have held, way []step) (held, int, error) {
	got := held{head: w.head, state: have.state, recipe: slices.Clone(have.recipe)}
	for i, s := range way {
		var data []byte
		err := w.check(s)
		if err == nil && s.snapshot {
			data, err = w.open(ctx, &got, s)
		} else if err == nil {
			data, err = w.change(ctx, &got, s)
		}
		if err == nil {
			got.recipe = append(got.recipe, s)
			err = w.fetched(ctx, s.Ref, data)
		}
		if err != nil {
			return held{}, i, err
		}
	}
	if got.state.Kind == w.head.Kind && got.state.Bytes() == w.head.Bytes {
		if got.tree = w.identify(have, got.state); got.tree.ID() == w.head.ID {
			return got, 0, nil
		}
	}
	return held{}, -1, fmt.Errorf("share: version %d is another filter than its head states: %w", w.head.Version, ErrCorrupt)
}

// identify returns the tree of a state. If there is a state already, it hashes what changed.
func (r *reacher) identify(have held, s umbel.State) *wire.Tree {
	if have.tree == nil {
		return wire.NewTree(s, r.limits.Workers)
	}
	t := have.tree.Clone()
	t.Update(have.state, s, r.limits.Workers)
	return t
}

// check refuses an object that no state within the limits has: no container and no change is much
// longer than the arrays of its state.
func (r *reacher) check(s step) error {
	if limit := min(r.limits.Bytes, maxObject); s.Bytes > limit+limit/1024+1<<20 {
		return fmt.Errorf("share: object %s has %d bytes, the limit of memory is %d: %w", s.Hash, s.Bytes, limit, umbel.ErrLimit)
	}
	return nil
}

// open takes a snapshot. Before it is verified, it may need little more memory than the filter.
func (w *walker) open(ctx context.Context, got *held, s step) (data []byte, err error) {
	if w.snapshot == nil {
		if w.snapshot, err = fetchAll(ctx, w.source, s.Ref); err != nil {
			return nil, err
		}
	}
	limits := w.limits
	if !w.verified {
		limits.Bytes = min(limits.Bytes, w.head.Bytes+w.head.Bytes/4+1<<20)
	}
	got.recipe = nil
	if got.state, err = wire.Parse(w.snapshot, limits); err != nil {
		return nil, fmt.Errorf("share: object %s: %w", s.Hash, err)
	}
	return w.snapshot, nil
}

// change takes a delta.
func (w *walker) change(ctx context.Context, got *held, s step) (data []byte, err error) {
	if data, err = fetch(ctx, w.source, s.Ref); err != nil {
		return nil, err
	}
	if got.state, err = (delta.Decoder{Limits: w.limits}).ApplyChange(got.state, data); err != nil {
		return nil, fmt.Errorf("share: object %s: %w", s.Hash, err)
	}
	return data, nil
}

// compareDeltas orders deltas by To, then by From.
func compareDeltas(a, b Delta) int {
	return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From))
}
