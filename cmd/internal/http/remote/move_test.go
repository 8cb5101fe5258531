package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/http/httpapi"
	"github.com/umbel-filters/umbel/cmd/internal/redis/slots"
	"github.com/umbel-filters/umbel/filter"
)

// mapNodes are nodes with a slot map.
type mapNodes struct {
	t       *testing.T
	clients []*Client
	maps    []*slots.Map // with one node, two nodes, …
}

// newMapNodes starts n nodes. The first with nodes have the map of these nodes, the others that of all.
func newMapNodes(t *testing.T, n, with int) *mapNodes {
	t.Helper()
	k := &mapNodes{t: t}
	handlers := make([]http.Handler, n)
	var shards []slots.Shard
	for i := range n {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handlers[i].ServeHTTP(w, r) }))
		t.Cleanup(s.Close)
		c, err := New(s.URL, Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.HTTP.CloseIdleConnections)
		k.clients = append(k.clients, c)
		shards = append(shards, slots.Shard{Nodes: []slots.Node{{Addr: fmt.Sprintf("n%d:6380", i), URL: s.URL}}})
		var old *slots.Map
		if i > 0 {
			old = k.maps[i-1]
		}
		k.maps = append(k.maps, slots.Plan(shards, old))
	}
	for i := range n {
		m := k.maps[n-1]
		if i < with {
			m = k.maps[with-1]
		}
		file := filepath.Join(t.TempDir(), "slots")
		if err := os.WriteFile(file, m.Text(), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := slots.Open(file, fmt.Sprintf("n%d:6380", i))
		if err != nil {
			t.Fatal(err)
		}
		handlers[i] = httpapi.New(httpapi.Options{Engine: engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return 0 }}), Slots: p})
	}
	return k
}

// call runs v for a key, as a client that follows redirections does, and returns the answer.
func (k *mapNodes) call(v Verb, name, key string) (bool, error) {
	for tries := 0; ; tries++ {
		c := k.clients[tries%len(k.clients)]
		f := &Filter{c: c, name: name}
		answers, err := f.Keys(k.t.Context(), v, [][]byte{[]byte(key)})
		if e := (*Error)(nil); tries < 1000 && errors.As(err, &e) && (e.Word() == api.WordElsewhere || e.Word() == api.WordNotFound && v == Has) {
			continue // not found: the original was deleted after the redirection
		}
		return err == nil && answers[0] == 1, err
	}
}

func (k *mapNodes) make(kind string, n int) (names []string) {
	k.t.Helper()
	for i := range n {
		name := fmt.Sprintf("%s-%d", kind, i)
		for _, c := range k.clients {
			_, err := c.Make(k.t.Context(), name, api.FilterSpec{Kind: kind, Keys: 1000})
			if err != nil && word(err) != api.WordElsewhere {
				k.t.Fatal(err)
			}
			if err == nil {
				names = append(names, name)
				break
			}
		}
	}
	return names
}

// placed tests that each filter is on the node to which the map gives it, and on no other.
func (k *mapNodes) placed(m *slots.Map, want int) {
	k.t.Helper()
	found := 0
	for i, c := range k.clients {
		for b, err := range c.List(k.t.Context(), "") {
			if err != nil {
				k.t.Fatal(err)
			}
			if owner := m.Owner(slots.Of([]byte(b.Name))); owner != i {
				k.t.Errorf("%s is on node %d, and the map gives it to %d", b.Name, i, owner)
			}
			found++
		}
	}
	if found != want {
		k.t.Errorf("%d filters, want %d", found, want)
	}
}

// Filters move to a third node while clients add to them and query: no addition that was acknowledged is ever absent.
func TestMove(t *testing.T) {
	k := newMapNodes(t, 3, 2)
	names := append(k.make("bloom", 6), k.make("counting", 6)...)
	var added [12]atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for i, name := range names {
		clients.Go(func() {
			for n := int64(0); ctx.Err() == nil; n++ {
				if _, err := k.call(Add, name, fmt.Sprint("key", n)); err != nil {
					t.Errorf("add to %s: %v", name, err)
					return
				}
				added[i].Store(n + 1)
				if has, err := k.call(Has, name, fmt.Sprint("key", n/2)); err != nil || !has {
					t.Errorf("%s has not key %d: %v", name, n/2, err)
					return
				}
			}
		})
	}
	copied := 0
	m := k.clients[0].NewMover(k.maps[1], k.maps[2])
	m.Copied = func(Misplaced) { copied++ }
	list, err := m.Move(t.Context())
	stop()
	clients.Wait()
	if err != nil || len(list) == 0 || copied != len(list) {
		t.Fatalf("%d of %d filters moved: %v", len(list), copied, err)
	}
	k.placed(k.maps[2], len(names))
	for i, name := range names {
		for n := range added[i].Load() {
			if has, err := k.call(Has, name, fmt.Sprint("key", n)); err != nil || !has {
				t.Errorf("%s has not key %d of %d: %v", name, n, added[i].Load(), err)
			}
		}
	}
}

// A move that ends at any step, as if it had been killed, loses nothing, and a second one completes it.
func TestMoveInterrupted(t *testing.T) {
	killed := errors.New("killed")
	ended := false
	steps := 0
	for at := 1; !ended; at++ {
		k := newMapNodes(t, 3, 2)
		names := k.make("bloom", 8)
		add := func(key string) {
			for _, name := range names {
				if _, err := k.call(Add, name, key); err != nil {
					t.Fatal(err)
				}
			}
		}
		add("before")
		m := k.clients[0].NewMover(k.maps[1], k.maps[2])
		n := 0
		m.step = func(string) error {
			if n++; n >= at {
				return killed
			}
			return nil
		}
		_, err := m.Move(t.Context())
		if ended = err == nil; !ended && !errors.Is(err, killed) {
			t.Fatalf("step %d: %v", at, err)
		}
		acknowledged := map[string]bool{}
		for _, name := range names { // those that accept changes now
			for _, c := range k.clients {
				if _, err := (&Filter{c: c, name: name}).once(t.Context(), Add, [][]byte{[]byte("between")}); err == nil {
					acknowledged[name] = true
					break
				}
			}
		}
		if _, err := k.clients[0].NewMover(k.maps[1], k.maps[2]).Move(t.Context()); err != nil {
			t.Fatalf("after step %d: %v", at, err)
		}
		k.placed(k.maps[2], len(names))
		for _, name := range names {
			if has, err := k.call(Has, name, "before"); err != nil || !has {
				t.Errorf("after step %d %s has not the key that was added before: %v", at, name, err)
			}
			if has, err := k.call(Has, name, "between"); err != nil || acknowledged[name] && !has {
				t.Errorf("after step %d %s has not the key that was added in between: %v", at, name, err)
			}
		}
		steps = at
	}
	if steps < 10 {
		t.Errorf("the move had %d steps", steps)
	}
}

// If the map was replaced without a move, filters that only set bits are joined, and others stay where they are with a sentence.
func TestMoveAfterNewMap(t *testing.T) {
	k := newMapNodes(t, 2, 1)
	ctx := t.Context()
	names := append(k.make("bloom", 8), k.make("counting", 8)...)
	for _, name := range names {
		if _, err := k.call(Add, name, "before"); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.clients[0].installSlotMap(ctx, k.maps[1]); err != nil {
		t.Fatal(err)
	}
	left, err := k.clients[0].NewMover(k.maps[0], k.maps[1]).Find(ctx)
	if err != nil || len(left) < 4 {
		t.Fatalf("%d filters are misplaced: %v", len(left), err)
	}
	doubled := map[string]bool{}
	for _, f := range left {
		kind, _, _ := strings.Cut(f.Name, "-")
		if _, err := k.clients[1].Make(ctx, f.Name, api.FilterSpec{Kind: kind, Keys: 1000}); err != nil {
			t.Fatal(err)
		}
		if _, err := k.call(Add, f.Name, "after"); err != nil {
			t.Fatal(err)
		}
		doubled[f.Name] = kind == "counting"
	}
	_, err = k.clients[0].NewMover(k.maps[0], k.maps[1]).Move(ctx)
	if err == nil || !strings.Contains(err.Error(), "compare both, and delete one") {
		t.Errorf("filters that count were joined: %v", err)
	}
	// The next move copies none of those that were left behind over the filters that clients use.
	if _, err := k.clients[0].NewMover(k.maps[1], k.maps[1]).Move(ctx); err == nil {
		t.Error("filters that count were joined")
	}
	for _, f := range left {
		if has, err := k.call(Has, f.Name, "after"); err != nil || !has {
			t.Errorf("%s has not the key that was added after the map: %v", f.Name, err)
		}
		if doubled[f.Name] {
			if _, err := k.clients[0].Info(ctx, f.Name); err != nil {
				t.Errorf("%s: %v", f.Name, err)
			}
			continue
		}
		for _, key := range []string{"before", "after"} {
			if has, err := k.call(Has, f.Name, key); err != nil || !has {
				t.Errorf("%s has not the key that was added %s the map: %v", f.Name, key, err)
			}
		}
		if _, err := k.clients[0].Info(ctx, f.Name); word(err) != api.WordElsewhere {
			t.Errorf("%s is still on the first node: %v", f.Name, err)
		}
	}
}
