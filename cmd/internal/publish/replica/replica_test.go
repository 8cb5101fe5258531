package replica

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// publication is a publisher, and its store as a source that counts objects and can fail.
type publication struct {
	t *testing.T
	*share.Memory
	key       share.Key
	publisher *share.Publisher
	filter    *bloom.Filter
	objects   atomic.Int64
	down      atomic.Bool
}

var errDown = errors.New("the carrier is down")

func (p *publication) Record(ctx context.Context, name string) ([]byte, error) {
	if p.down.Load() {
		return nil, errDown
	}
	return p.Memory.Record(ctx, name)
}

func (p *publication) WatchRecord(ctx context.Context, name string, last []byte) ([]byte, error) {
	if p.down.Load() {
		return nil, errDown
	}
	return p.Memory.WatchRecord(ctx, name, last)
}

func (p *publication) Object(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	p.objects.Add(1)
	return p.Memory.Object(ctx, name, offset)
}

// newPublication returns a publication with no version. Heads are valid for a minute.
func newPublication(t *testing.T, name string) *publication {
	t.Helper()
	key, _, err := share.NewKey(name)
	if err != nil {
		t.Fatal(err)
	}
	p := &publication{t: t, Memory: new(share.Memory), key: key}
	if p.publisher, err = share.NewPublisher(t.Context(), share.PublisherOptions{Store: p.Memory, Key: key, Valid: time.Minute}); err != nil {
		t.Fatal(err)
	}
	if p.filter, err = bloom.New(10_000, 1e-6); err != nil {
		t.Fatal(err)
	}
	return p
}

// publish publishes a version with these keys more than the one before.
func (p *publication) publish(keys ...string) {
	p.t.Helper()
	umbel.AddKeys(p.filter, keys)
	if _, err := p.publisher.Publish(p.t.Context(), p.filter.State()); err != nil {
		p.t.Fatal(err)
	}
}

// world is a replica.
type world struct {
	t      *testing.T
	o      Options
	set    *Set
	engine *engine.Engine
	log    strings.Builder
	logged sync.Mutex
	stop   func()
}

func (w *world) Write(b []byte) (int, error) {
	w.logged.Lock()
	defer w.logged.Unlock()
	return w.log.Write(b)
}

// text returns what was logged.
func (w *world) text() string {
	w.logged.Lock()
	defer w.logged.Unlock()
	return w.log.String()
}

// follow begins a replica of publications, which have the names of their keys unless spec changes that.
func follow(t *testing.T, cache string, stale share.Stale, publications ...*publication) *world {
	t.Helper()
	w := &world{t: t, engine: engine.New(engine.Options{Kinds: filter.All, ReadOnly: engine.ErrReplica})}
	w.o = Options{Engine: w.engine, Cache: cache, Stale: stale, Log: slog.New(slog.NewTextHandler(w, nil))}
	for _, p := range publications {
		w.o.Publications = append(w.o.Publications, Publication{Spec: Spec{Source: "memory"}, Reader: p, Verifier: p.key.Verifier})
	}
	w.start()
	return w
}

func (w *world) start() {
	w.t.Helper()
	var err error
	if w.set, err = Open(w.t.Context(), w.o); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.set.Run(ctx)
	}()
	w.stop = sync.OnceFunc(func() {
		cancel()
		<-ended
		if err := w.set.Close(); err != nil {
			w.t.Error(err)
		}
	})
}

// has queries a filter.
func (w *world) has(name string, keys ...string) ([]bool, error) {
	w.t.Helper()
	f := w.engine.Get([]byte(name))
	if f == nil {
		w.t.Fatalf("the engine has no filter %q", name)
	}
	h, has := f.Hasher(), make([]bool, len(keys))
	for i, k := range keys {
		if err := f.Has(has[i:i+1], []digest{h.HashString(k)}); err != nil {
			return nil, err
		}
	}
	return has, nil
}

func (w *world) want(name string, keys []string, want []bool, fails error) {
	w.t.Helper()
	if got, err := w.has(name, keys...); !errors.Is(err, fails) || fails == nil && !slices.Equal(got, want) {
		w.t.Errorf("%q: got %v, %v; want %v, %v", keys, got, err, want, fails)
	}
}

// A replica answers from each version, until its head expires, and again after the next one.
func TestFollow(t *testing.T) {
	present, both := []string{"alice"}, []string{"alice", "bob"}
	for stale, want := range map[share.Stale]struct {
		first, later     []bool
		firstErr, later2 error
	}{
		share.StaleError: {nil, nil, share.ErrStale, share.ErrStale},
		share.StaleMaybe: {[]bool{true, true}, []bool{true, true}, nil, nil},
		share.StaleLast:  {nil, []bool{true, false}, share.ErrStale, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPublication(t, "example.org/users")
			w := follow(t, t.TempDir(), stale, p)
			defer w.stop()
			synctest.Wait()
			w.want("example.org/users", both, want.first, want.firstErr)
			if w.set.Exact() == nil || w.set.List()[0].State != api.SubscriptionWaiting {
				t.Errorf("without a version: %+v", w.set.List()[0])
			}
			p.publish("alice")
			time.Sleep(20 * time.Second)
			w.want("example.org/users", both, []bool{true, false}, nil)
			p.publish("bob")
			synctest.Wait()
			w.want("example.org/users", both, []bool{true, true}, nil)
			w.want("example.org/users", []string{"carol"}, []bool{false}, nil)
			if s := w.set.List()[0]; w.set.Exact() != nil || s.State != api.SubscriptionExact || s.Version != 2 || s.Versions != 2 || s.Error != "" {
				t.Errorf("with a version: %+v", s)
			}
			// A renewed head prolongs the version.
			time.Sleep(50 * time.Second)
			if _, err := p.publisher.Renew(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Second)
			w.want("example.org/users", []string{"carol"}, []bool{false}, nil)
			p.down.Store(true)
			time.Sleep(11 * time.Second)
			synctest.Wait()
			w.want("example.org/users", []string{"alice", "carol"}, want.later, want.later2)
			if s := w.set.List()[0]; w.set.Exact() == nil || s.State != api.SubscriptionStale || s.Error == "" {
				t.Errorf("after the head has expired: %+v", s)
			}
			if f := w.engine.Get([]byte("example.org/users")); (f.CheckComplete() == nil) != (stale == share.StaleLast) {
				t.Errorf("a copy of a stale filter: %v", f.CheckComplete())
			}
			p.down.Store(false)
			p.publish("dave")
			time.Sleep(20 * time.Second)
			w.want("example.org/users", append(present, "carol", "dave"), []bool{true, false, true}, nil)
			if got := w.text(); strings.Count(got, "publication is exact") != 2 || strings.Count(got, "publication is stale") != 1 {
				t.Errorf("logged: %s", got)
			}
		})
	}
}

// While a version waits for the bytes that it takes, that is the state of the subscription.
func TestWaitsForBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPublication(t, "example.org/users")
		p.publish("alice")
		w := &world{t: t, engine: engine.New(engine.Options{Kinds: filter.All, ReadOnly: engine.ErrReplica})}
		spec := Spec{Source: "memory", Budget: Budget{BytesPerSecond: 1}}
		w.o = Options{Engine: w.engine, Cache: t.TempDir(), Stale: share.StaleError, Log: slog.New(slog.NewTextHandler(w, nil)), Publications: []Publication{{Spec: spec, Reader: p, Verifier: p.key.Verifier}}}
		w.start()
		defer func() { w.stop() }()
		synctest.Wait()
		p.publish("bob")
		time.Sleep(30 * time.Second) // the first head that is read is that of version 2
		synctest.Wait()
		if s := w.set.List()[0]; s.Version != 1 || s.Error != "waits for budget" || s.Failures != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// A replica that restarts answers at once, and fetches nothing that it has.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPublication(t, "example.org/users")
		p.publish("alice")
		w := follow(t, t.TempDir(), share.StaleError, p)
		time.Sleep(time.Second)
		if _, err := Open(t.Context(), w.o); !errors.Is(err, dir.ErrLocked) {
			t.Errorf("a second replica with the cache: %v", err)
		}
		w.stop()
		p.down.Store(true)
		p.objects.Store(0)
		w = follow(t, w.o.Cache, share.StaleError, p)
		defer func() { w.stop() }()
		w.want("example.org/users", []string{"alice", "bob"}, []bool{true, false}, nil)
		p.down.Store(false)
		time.Sleep(20 * time.Second)
		if s := w.set.List()[0]; s.State != api.SubscriptionExact || s.Error != "" || p.objects.Load() != 0 {
			t.Errorf("%d objects were fetched, %+v", p.objects.Load(), s)
		}
	})
}

// What the key did not sign is not used, and the state has the reason.
func TestForged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, other := newPublication(t, "example.org/users"), newPublication(t, "example.org/users")
		p.publish("alice")
		w := follow(t, t.TempDir(), share.StaleError, p)
		defer w.stop()
		time.Sleep(time.Second)
		other.publish("mallory")
		head, err := other.Record(t.Context(), share.HeadName)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.PutRecord(t.Context(), share.HeadName, head); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		w.want("example.org/users", []string{"alice", "mallory"}, []bool{true, false}, nil)
		if s := w.set.List()[0]; !strings.Contains(s.Error, "no valid signature") || s.Failures == 0 {
			t.Errorf("the state is %+v", s)
		}
		time.Sleep(time.Minute)
		w.want("example.org/users", []string{"alice"}, nil, share.ErrStale)
	})
}

// A version without memory is not used. The one before answers until its head expires.
func TestMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPublication(t, "example.org/users")
		p.publish("alice")
		w := follow(t, t.TempDir(), share.StaleError, p)
		defer w.stop()
		time.Sleep(time.Second)
		w.engine.SetMaxMemory(p.filter.State().Bytes() * 3 / 2)
		p.publish("bob")
		time.Sleep(time.Second)
		w.want("example.org/users", []string{"alice", "bob"}, []bool{true, false}, nil)
		if s := w.set.List()[0]; !strings.Contains(s.Error, "memory limit") || s.Version != 1 {
			t.Errorf("the state is %+v", s)
		}
		time.Sleep(time.Minute)
		w.want("example.org/users", []string{"alice"}, nil, share.ErrStale)
	})
}
