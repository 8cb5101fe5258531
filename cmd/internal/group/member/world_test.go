package member

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/durable/store"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog/mediumtest"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// link is the way of one node to the medium. While it is cut, all operations wait.
type link struct {
	sharedlog.Medium
	mu  sync.Mutex
	cut chan struct{} // closed when the link is whole again; nil: it is

	puts, gets func(key string) error // may refuse an operation; may be nil
}

func (l *link) pass(ctx context.Context) error {
	l.mu.Lock()
	cut := l.cut
	l.mu.Unlock()
	if cut == nil {
		return nil
	}
	select {
	case <-cut:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *link) setCut(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case on && l.cut == nil:
		l.cut = make(chan struct{})
	case !on && l.cut != nil:
		close(l.cut)
		l.cut = nil
	}
}

func (l *link) Put(ctx context.Context, key string, data []byte) error {
	if err := l.pass(ctx); err != nil {
		return err
	}
	if l.puts != nil {
		if err := l.puts(key); err != nil {
			return err
		}
	}
	return l.Medium.Put(ctx, key, data)
}

func (l *link) Get(ctx context.Context, key string) ([]byte, error) {
	if err := l.pass(ctx); err != nil {
		return nil, err
	}
	if l.gets != nil {
		if err := l.gets(key); err != nil {
			return nil, err
		}
	}
	return l.Medium.Get(ctx, key)
}

func (l *link) List(ctx context.Context, prefix string) ([]string, error) {
	if err := l.pass(ctx); err != nil {
		return nil, err
	}
	return l.Medium.List(ctx, prefix)
}

// peer is a node with a data directory and a way to the medium.
type peer struct {
	name   string
	data   string
	link   *link
	growth uint64
	maxAge time.Duration

	*store.Store
	*engine.Engine
	member *Member
	log    *wal.Log
	stop   context.CancelFunc
	ended  chan error // what Run returned

	mu    sync.Mutex
	heard []string // the leaders that Options.Leader was called with since the start, without repetitions; "-" for none
}

func newPeer(t testing.TB, name string, medium sharedlog.Medium) *peer {
	return &peer{name: name, data: t.TempDir(), link: &link{Medium: medium}}
}

// tryStart starts the node.
func (p *peer) tryStart() error {
	p.heard = nil
	dirs := []string{filepath.Join(p.data, "log"), filepath.Join(p.data, "snapshots")}
	if err := Prepare(p.data, dirs...); err != nil {
		return err
	}
	files, err := snapfile.OpenDir(dirs[1], snapfile.Options{})
	if err != nil {
		return err
	}
	if p.log, err = wal.Open(dirs[0], wal.Options{SegmentBytes: 1 << 20}); err != nil {
		return err
	}
	ctx := context.Background()
	p.member, err = Join(ctx, Options{
		Medium: p.link, Data: p.data, Own: p.log, Files: files, Address: Address{RESP: p.name}, Growth: p.growth, MaxAge: p.maxAge, Leader: p.hears,
		Settings: []byte("of " + p.name), Log: logOf(p.name),
	})
	if err != nil {
		return errors.Join(err, p.log.Close())
	}
	p.Engine = engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return time.Now().UnixMilli() }})
	p.Engine.SetFresh(p.member.Fresh)
	if p.Store, _, err = store.Open(ctx, p.log, files, p.Engine, store.Options{Follow: true}); err != nil {
		return errors.Join(err, p.log.Close())
	}
	running, stop := context.WithCancel(ctx)
	p.stop, p.ended = stop, make(chan error, 1)
	go p.member.Keep(running)
	go func() { p.ended <- p.member.Run(running, p.Store) }()
	return nil
}

func (p *peer) start(t testing.TB) *peer {
	t.Helper()
	if err := p.tryStart(); err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	return p
}

// kill ends the node without any word to the others.
func (p *peer) kill() {
	p.stop()
	<-p.ended
	if d := p.member.leader.Load(); d != nil {
		d.Close()
	}
	p.close()
}

// close gives up what is not committed.
func (p *peer) close() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.Store.Close(ctx) // it reports that
	_ = p.log.Close()
}

// end ends the node in order.
func (p *peer) end(t testing.TB) {
	t.Helper()
	p.stop()
	ctx := context.Background()
	if err := errors.Join(<-p.ended, p.Store.Close(ctx), p.member.Close(ctx), p.log.Close()); err != nil {
		t.Errorf("%s: end: %v", p.name, err)
	}
}

// again starts a node again whose Run has ended.
func (p *peer) again(t testing.TB) {
	t.Helper()
	if err := <-p.ended; !errors.Is(err, ErrAgain) {
		t.Fatalf("%s: Run returned %v, want %v", p.name, err, ErrAgain)
	}
	p.stop()
	p.close()
	p.start(t)
}

func (p *peer) leads() bool { return p.Store.Writable() == nil }

// until waits until a condition holds, in the time of a bubble.
func until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for range 6000 {
		if condition() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("not within a minute: %s", what)
}

// contents says what each filter is.
func (p *peer) contents() map[string]string {
	all := map[string]string{}
	p.Engine.List(0, 1<<30, func(f *engine.Filter) bool {
		_ = f.View(func(g umbel.Filter) {
			all[f.Name()] = fmt.Sprintf("%d %s %v expires %d", f.ID(), f.Kind(), hashtree.Identify(g.State()), f.Expires())
		})
		return true
	})
	return all
}

// same waits until nodes have the same filters as the first one.
func same(t testing.TB, ps ...*peer) {
	t.Helper()
	for _, p := range ps[1:] {
		until(t, p.name+" has what "+ps[0].name+" has", func() bool {
			return p.log.Next() == ps[0].log.Next() && fmt.Sprint(p.contents()) == fmt.Sprint(ps[0].contents())
		})
	}
}

func digest(i int) umbel.Digest { return umbel.Hasher{}.HashString(fmt.Sprint(i)) }

func digests(from, to int) (ds []umbel.Digest) {
	for i := from; i < to; i++ {
		ds = append(ds, digest(i))
	}
	return ds
}

// make makes a filter and adds keys to it.
func (p *peer) make(t testing.TB, name, kind string, from, to int) {
	t.Helper()
	if _, _, err := p.Create(name, kind, umbel.Goal{Keys: 10_000, FPRate: .01}, nil); err != nil {
		t.Fatalf("%s: create: %v", p.name, err)
	}
	p.add(t, name, from, to)
}

// add adds keys and waits until they count.
func (p *peer) add(t testing.TB, name string, from, to int) {
	t.Helper()
	f := p.Get([]byte(name))
	if f == nil {
		t.Fatalf("%s has no filter %q", p.name, name)
	}
	_, pos, err := f.Add(nil, digests(from, to))
	if err == nil {
		err = p.Wait(context.Background(), pos)
	}
	if err != nil {
		t.Fatalf("%s: add: %v", p.name, err)
	}
}

func newMemory() *mediumtest.Memory { return new(mediumtest.Memory) }

// logOf returns the log of a node, which is printed with UMBEL_TEST_LOG=1.
func logOf(name string) *slog.Logger {
	if os.Getenv("UMBEL_TEST_LOG") == "" {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, nil)).With("node", name)
}
