package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/http/httpapi"
	"github.com/umbel-filters/umbel/filter"
)

// refusing is a journal that refuses changes after some, until it was called a number of times.
type refusing struct {
	mu       sync.Mutex
	accepts  int // changes that are accepted before the refusal
	refusals int // left, once none are accepted
	added    int // digests
	removed  int // digests
	changes  int
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
	switch r.changes++; c.Op {
	case engine.OpAdd:
		r.added += len(c.Digests)
	case engine.OpRemove:
		r.removed += len(c.Digests)
	}
	return 1
}

func (r *refusing) ReadyToFree() error                           { return r.Ready() }
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
func TestAddWaits(t *testing.T) {
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
		n.Refused = func(err error) {
			refused.Add(1)
			if word(err) != api.WordReadOnly {
				t.Errorf("refused with %v", err)
			}
		}
		err = f.Each(t.Context(), Add, largeBatches(5), func(keys [][]byte, _ []uint64) error {
			added += len(keys)
			return nil
		})
		if err != nil || added != keys || j.added != keys || refused.Load() != 5 {
			t.Errorf("%d changes, then a refusal: %v, %d keys acknowledged and %d added of %d, %d times refused", accepts, err, added, j.added, keys, refused.Load())
		}
	}
}

// Waiting ends with the context, and errors other than a refusal are returned at once.
func TestAddEnds(t *testing.T) {
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
	n.Refused = func(error) { stop() }
	err = f.Each(ctx, Add, numbers(10, nil), nil)
	if !errors.Is(err, context.Canceled) || j.added != 0 {
		t.Errorf("%v, %d keys added", err, j.added)
	}
	f.name = "absent"
	if err := f.Each(t.Context(), Add, numbers(10, nil), nil); word(err) != api.WordNotFound {
		t.Errorf("a filter that does not exist: %v", err)
	}
}

// The answers are those of Keys; keys that were added before a refusal count as new.
func TestAddAnswers(t *testing.T) {
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
			answers, err := f.Keys(t.Context(), Add, keys)
			if err != nil || !slices.Equal(answers, slices.Repeat([]uint64{want}, len(keys))) {
				t.Errorf("%d answers, not all %d, %v", len(answers), want, err)
			}
		}
	}
}

// A node that has added keys and cannot write them for a moment answers when they are written. They are added once.
func TestAddKeptLater(t *testing.T) {
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
		answers, err := f.Keys(t.Context(), Add, keys)
		if err != nil || len(answers) != len(keys) || j.added != len(keys) || failures.Load() >= 0 {
			t.Errorf("%v: %d answers, %d keys added of %d, %d failures left", err, len(answers), j.added, len(keys), failures.Load())
		}
	}
}

// Removals are sent again as additions are: each key is removed once, and the answers are those of the node.
func TestRemoveWaits(t *testing.T) {
	for _, accepts := range []int{0, 1, 3} {
		j := &refusing{}
		n := serve(t, httpapi.Options{Engine: refusingEngine(j)})
		must(n.Make(t.Context(), "a", api.FilterSpec{Kind: "counting", Keys: BatchKeys, FPRate: 1e-6}))(t)
		f, _, err := n.Filter(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		for keys := range largeBatches(1) {
			must(f.Keys(t.Context(), Add, keys[1:]))(t) // the first key is absent
			must(f.Keys(t.Context(), Add, keys[1:]))(t)
			j.begin(accepts, 2)
			want := slices.Repeat([]uint64{1}, len(keys))
			want[0] = 0
			answers, err := f.Keys(t.Context(), Remove, keys)
			if err != nil || !slices.Equal(answers, want) || j.removed != len(keys)-1 {
				t.Errorf("%d changes, then a refusal: %v, %d answers, %d keys removed of %d", accepts, err, len(answers), j.removed, len(keys)-1)
			}
		}
	}
}

// If a node has removed keys and answers with a problem only, the rest is not sent again: which of these keys were
// absent would be unknown.
func TestRemoveWithoutAnswers(t *testing.T) {
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++
		w.Header().Set("Content-Type", api.MediaProblem)
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintf(w, `{"type": %q, "done": 2}`, api.ProblemPath+"read-only")
	}))
	defer server.Close()
	n, err := New(server.URL, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.HTTP.CloseIdleConnections()
	f := Filter{c: n, name: "a"}
	_, err = f.Keys(t.Context(), Remove, [][]byte{{1}, {2}, {3}})
	if e, ok := errors.AsType[*Error](err); !ok || word(err) != api.WordReadOnly || e.Done != 2 || requests != 1 {
		t.Errorf("%v after %d requests", err, requests)
	}
}

// Changes of a filter as a whole are made once, when the node accepts changes again.
func TestChangesWait(t *testing.T) {
	j := &refusing{}
	n := serve(t, httpapi.Options{Engine: refusingEngine(j)})
	ctx := t.Context()
	must(n.Make(ctx, "other", thousand))(t)
	var container bytes.Buffer
	must(n.Get(ctx, "other", false, &container))(t)
	file := filepath.Join(t.TempDir(), "container")
	if err := os.WriteFile(file, append([]byte("before"), container.Bytes()...), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Seek(int64(len("before")), io.SeekStart); err != nil {
		t.Fatal(err)
	}
	var refused atomic.Int64
	n.Refused = func(error) { refused.Add(1) }
	for _, c := range []struct {
		name   string
		change func() error
	}{
		{"make", func() error { _, err := n.Make(ctx, "a", thousand); return err }},
		{"merge", func() error { _, err := n.Merge(ctx, "a", "other"); return err }},
		{"clear", func() error { _, err := n.Do(ctx, "a", operation.Clear, umbel.Number{}); return err }},
		{"copy", func() error { _, err := n.Copy(ctx, "a", "b"); return err }},
		{"delete", func() error { return n.Delete(ctx, "b") }},
		{"put", func() error { _, err := n.Put(ctx, "b", f, false); return err }},
		{"replace", func() error { _, err := n.Put(ctx, "b", bytes.NewReader(container.Bytes()), true); return err }},
	} {
		before := j.changes
		refused.Store(0)
		j.begin(0, 2)
		if err := c.change(); err != nil || refused.Load() != 2 || j.changes != before+1 {
			t.Errorf("%s: %v, refused %d times, %d changes", c.name, err, refused.Load(), j.changes-before)
		}
	}
	j.begin(0, 1)
	if _, err := n.Put(ctx, "b", io.MultiReader(&container), true); word(err) != api.WordReadOnly {
		t.Errorf("a container that cannot be read twice: %v", err)
	}
}

// A change that the node has made and cannot write for a moment is made once.
func TestMakeKeptLater(t *testing.T) {
	j := &refusing{}
	var failures atomic.Int64
	n := serve(t, httpapi.Options{Engine: refusingEngine(j), Wait: func(context.Context, engine.Position) error {
		if failures.Add(-1) >= 0 {
			return errNoRoom
		}
		return nil
	}})
	failures.Store(3)
	if _, err := n.Make(t.Context(), "a", thousand); err != nil || j.changes != 1 || failures.Load() >= 0 {
		t.Errorf("%v, %d changes, %d failures left", err, j.changes, failures.Load())
	}
}
