package publish

import (
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/publish/signing"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
	"go.uber.org/goleak"
	"golang.org/x/mod/sumdb/note"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is an engine with publications.
type world struct {
	*testing.T
	engine *engine.Engine
	set    *Set
	dir    string
	key    string // file
	disk   *budget.Budget
	log    *safeLog
	wait   atomic.Pointer[func(ctx context.Context) error] // hook of Options.Wait; nil: changes are durable
}

// safeLog collects messages of level info and above.
type safeLog struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *safeLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *safeLog) count(message string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), `msg="`+message)
}

func newWorld(t *testing.T, o engine.Options) *world {
	t.Helper()
	o.Kinds = filter.All
	w := &world{T: t, engine: engine.New(o), dir: t.TempDir(), log: &safeLog{}}
	w.key = w.newKey("words")
	w.restart()
	return w
}

// newKey writes a new private key and returns its file.
func (w *world) newKey(name string) string {
	w.Helper()
	private, _, err := note.GenerateKey(rand.Reader, "example.org/"+name)
	if err != nil {
		w.Fatal(err)
	}
	file := filepath.Join(w.dir, name+".key")
	if err := os.WriteFile(file, []byte(private), 0o600); err != nil {
		w.Fatal(err)
	}
	return file
}

// restart begins a set without publications, as a new process does.
func (w *world) restart() {
	if w.set != nil {
		w.set.Close()
	}
	w.set = New(Options{
		Engine: w.engine, Directory: filepath.Join(w.dir, "publications"), Disk: w.disk, Within: w.dir, Log: slog.New(slog.NewTextHandler(w.log, nil)),
		Wait: func(ctx context.Context, _ engine.Position) error {
			if wait := w.wait.Load(); wait != nil {
				return (*wait)(ctx)
			}
			return nil
		},
	})
}

func (w *world) apply(specs ...Spec) {
	w.Helper()
	if err := w.set.Apply(specs); err != nil {
		w.Fatal(err)
	}
}

// make makes a filter and replaces the one of the same name.
func (w *world) make(kind string, h umbel.Hasher) *engine.Filter {
	w.Helper()
	k, err := filter.All.Find(kind)
	if err != nil {
		w.Fatal(err)
	}
	f, err := k.New(umbel.Goal{Keys: 100_000, FPRate: 0.01, Hasher: h}, nil)
	if err != nil {
		w.Fatal(err)
	}
	g, _, err := w.engine.Put("words", f, engine.PutOptions{Replace: true})
	if err != nil {
		w.Fatal(err)
	}
	return g
}

// add adds keys first to first+n-1 to the filter.
func (w *world) add(first, n int) {
	w.Helper()
	if _, _, err := w.filter().Add(nil, digests(w.filter().Hasher(), first, n)); err != nil {
		w.Fatal(err)
	}
}

func (w *world) filter() *engine.Filter {
	w.Helper()
	f := w.engine.Get([]byte("words"))
	if f == nil {
		w.Fatal("no filter")
	}
	return f
}

func digests(h umbel.Hasher, first, n int) []umbel.Digest {
	var ds []umbel.Digest
	for i := range n {
		ds = append(ds, h.HashString("key "+strconv.Itoa(first+i)))
	}
	return ds
}

// publish publishes the filter now and checks the version.
func (w *world) publish(want uint64) {
	w.Helper()
	if v, err := w.set.Publish(w.Context(), "words"); err != nil || v != want {
		w.Fatalf("version %d, %v; want %d", v, err, want)
	}
}

func (w *world) status() api.Publication {
	w.Helper()
	p, err := w.set.Get("words")
	if err != nil {
		w.Fatal(err)
	}
	return p.Status()
}

// directory returns the default directory of the publication.
func (w *world) directory() string { return filepath.Join(w.dir, "publications", "words") }

// subscribe returns a subscriber of the publication.
func (w *world) subscribe() *share.Subscriber {
	w.Helper()
	k, err := signing.Read(w.key)
	if err != nil {
		w.Fatal(err)
	}
	s, err := share.NewSubscriber(w.Context(), share.SubscriberOptions{
		Source: dir.Open(w.directory()), Verifier: k.Verifier, Kinds: filter.All, Stale: share.StaleError,
	})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(s.Close)
	return s
}

// update updates a subscriber, and compares its filter with the one of the engine.
func (w *world) update(s *share.Subscriber) {
	w.Helper()
	if err := s.Update(w.Context()); err != nil {
		w.Fatal(err)
	}
	hold := w.engine.NewReservation()
	defer hold.Release()
	want, err := w.filter().CopyState(hold)
	if err != nil {
		w.Fatal(err)
	}
	if got := s.View().Filter().State(); !got.Equal(want) || !s.View().Exact() {
		w.Errorf("the subscriber's filter differs from the published one, or is stale")
	}
}
