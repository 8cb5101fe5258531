package remote

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/api"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/httpapi"
	"github.com/umbel-filters/umbel/filter"
)

// refusing is a journal that refuses changes after some, until it was asked a number of times.
type refusing struct {
	mu       sync.Mutex
	accepts  int // changes that are accepted before the refusal
	refusals int // left, once none are accepted
	added    int // digests
}

var errNoRoom = errors.New("no room")

func (r *refusing) Ready() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.accepts--; r.accepts < 0 && r.refusals > 0 {
		r.refusals--
		return errNoRoom
	}
	return nil
}

func (r *refusing) Append(c engine.Change) engine.Position {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.added += len(c.Digests)
	return 1
}

func (*refusing) ReadyToFree() error                             { return nil }
func (*refusing) Admit(uint64) error                             { return nil }
func (*refusing) Begin(engine.Change) (engine.LongChange, error) { return nil, errors.ErrUnsupported }
func (*refusing) Last() engine.Position                          { return 1 }

// begin sets what is accepted and refused from now on.
func (r *refusing) begin(accepts, refusals int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.accepts, r.refusals = accepts, refusals
}

func refusingEngine(j *refusing) *engine.Engine {
	e := engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return 1 }})
	e.SetJournal(j)
	return e
}

// largeBatches yields n batches, which a node reads in several parts.
func largeBatches(n int) iter.Seq2[[][]byte, error] {
	return func(yield func([][]byte, error) bool) {
		for i := range n {
			keys := make([][]byte, BatchKeys)
			for j := range keys {
				keys[j] = fmt.Appendf(nil, "key %d of batch %d", j, i)
			}
			if !yield(keys, nil) {
				return
			}
		}
	}
}

// A node that refuses changes for a while gets each key once: a counting filter would count others twice.
func TestAddEachWaits(t *testing.T) {
	for _, accepts := range []int{0, 1, 4, 17} {
		j := &refusing{}
		n := serve(t, httpapi.Options{Engine: refusingEngine(j)})
		must(n.Make(t.Context(), "a", api.FilterSpec{Kind: "counting", Keys: 200_000, FPRate: 0.001}))(t)
		j.begin(accepts, 5)
		f, _, err := n.Filter(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		var refused atomic.Int64
		const keys = 5 * BatchKeys
		added := 0
		err = f.AddEach(t.Context(), largeBatches(5), func(n int) { added += n }, func(err error) {
			refused.Add(1)
			if !errors.Is(err, engine.ErrReadOnly) {
				t.Errorf("refused with %v", err)
			}
		})
		if err != nil || added != keys || j.added != keys || refused.Load() != 5 {
			t.Errorf("%d changes, then a refusal: %v, %d keys acknowledged and %d added of %d, %d times refused", accepts, err, added, j.added, keys, refused.Load())
		}
	}
}

// Waiting ends with the context, and errors other than a refusal are returned at once.
func TestAddEachEnds(t *testing.T) {
	j := &refusing{}
	n := serve(t, httpapi.Options{Engine: refusingEngine(j)})
	must(n.Make(t.Context(), "a", thousand))(t)
	j.begin(0, 1<<30)
	f, _, err := n.Filter(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	err = f.AddEach(ctx, numbers(10, nil), nil, func(error) { stop() })
	if !errors.Is(err, context.Canceled) || j.added != 0 {
		t.Errorf("%v, %d keys added", err, j.added)
	}
	f.name = "absent"
	if err := f.AddEach(t.Context(), numbers(10, nil), nil, nil); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("a filter that does not exist: %v", err)
	}
}

// The answers are those of Keys; keys that were added before a refusal count as new.
func TestAddKeysAnswers(t *testing.T) {
	j := &refusing{}
	n := serve(t, httpapi.Options{Engine: refusingEngine(j)})
	must(n.Make(t.Context(), "a", api.FilterSpec{Keys: BatchKeys, FPRate: 1e-9}))(t)
	f, _, err := n.Filter(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	for keys := range largeBatches(1) {
		for _, want := range []uint64{1, 0} {
			j.begin(2, int(want))
			answers, err := f.AddKeys(t.Context(), keys, nil)
			if err != nil || !slices.Equal(answers, slices.Repeat([]uint64{want}, len(keys))) {
				t.Errorf("%d answers, not all %d, %v", len(answers), want, err)
			}
		}
	}
}

// A node that has added keys and cannot write them for a moment answers when they are written. They are added once.
func TestAddKeysKeptLater(t *testing.T) {
	j := &refusing{}
	var failures atomic.Int64
	n := serve(t, httpapi.Options{Engine: refusingEngine(j), Wait: func(context.Context, engine.Position) error {
		if failures.Add(-1) >= 0 {
			return errNoRoom
		}
		return nil
	}})
	must(n.Make(t.Context(), "a", api.FilterSpec{Kind: "counting", Keys: BatchKeys, FPRate: 0.001}))(t)
	f, _, err := n.Filter(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	for keys := range largeBatches(1) {
		failures.Store(3)
		answers, err := f.AddKeys(t.Context(), keys, nil)
		if err != nil || len(answers) != len(keys) || j.added != len(keys) || failures.Load() >= 0 {
			t.Errorf("%v: %d answers, %d keys added of %d, %d failures left", err, len(answers), j.added, len(keys), failures.Load())
		}
	}
}
