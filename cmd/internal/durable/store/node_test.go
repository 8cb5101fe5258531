package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/durable/recovery"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal/waltest"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// tester is a *testing.T or a *rapid.T.
type tester interface {
	Helper()
	Errorf(string, ...any)
	Fatalf(string, ...any)
}

// drive is a data directory in memory: a log and files of snapshots.
type drive struct {
	*waltest.Disk
	files        *disktest.Disk
	segmentBytes int64 // of the log; 0: those of waltest
}

func newDisk() *drive { return &drive{Disk: waltest.NewDisk(), files: disktest.NewDisk()} }

func (d *drive) Clone() *drive { return &drive{d.Disk.Clone(), d.files.Clone(), d.segmentBytes} }

func (d *drive) Kill() {
	d.Disk.Kill()
	d.files.Kill()
}

// PowerCut loses what was not synced, in one of many combinations.
func (d *drive) PowerCut() {
	d.Disk.PowerCut()
	d.files.PowerCut(rand.New(rand.NewPCG(rand.Uint64(), 0)))
}

// pieces returns the names of all pieces, manifests those of all manifests.
func (d *drive) pieces() []string    { return d.named("piece-") }
func (d *drive) manifests() []string { return d.named("manifest-") }

func (d *drive) named(prefix string) []string {
	return slices.DeleteFunc(d.files.Names(), func(name string) bool { return !strings.HasPrefix(name, prefix) })
}

// node is an engine with its store over a disk.
type node struct {
	*Store
	*engine.Engine
	disk   *drive
	log    *wal.Log
	files  *snapfile.Dir
	report Report
}

func newEngine() *engine.Engine {
	return engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return 1 }})
}

// tryStart starts a node on what a disk has.
func tryStart(d *drive, o Options) (*node, error) {
	logOptions := waltest.Options()
	logOptions.Disk = o.Disk
	logOptions.AcceptUnreadable = o.AcceptLoss
	if d.segmentBytes > 0 {
		logOptions.SegmentBytes = d.segmentBytes
	}
	l, err := d.OpenWith(logOptions)
	if err != nil {
		return nil, err
	}
	e := newEngine()
	files, err := snapfile.Open(d.files.Dir(), snapfile.Options{Disk: o.Disk})
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	s, report, err := Open(context.Background(), l, files, e, o)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &node{s, e, d, l, files, report}, nil
}

func start(t tester, d *drive, o Options) *node {
	t.Helper()
	n, err := tryStart(d, o)
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	return n
}

// kill ends the node as kill -9 would.
func (n *node) kill() {
	n.disk.Kill()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	n.Store.Close(ctx)
	n.log.Close()
}

// end ends the node as an operator would.
func (n *node) end(t tester) {
	t.Helper()
	if err := n.Store.Close(context.Background()); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := n.log.Close(); err != nil {
		t.Errorf("close of the log: %v", err)
	}
}

// contents says what each filter of an engine is.
func contents(e *engine.Engine) map[string]string {
	all := make(map[string]string)
	for cursor := uint64(0); ; {
		cursor = e.List(cursor, 100, func(f *engine.Filter) bool {
			f.View(func(g umbel.Filter) {
				all[f.Name()] = fmt.Sprintf("%s %v expires %d hidden %v", f.Kind(), hashtree.Identify(g.State()), f.Expires(), f.Incomplete())
			})
			return true
		})
		if cursor == 0 {
			return all
		}
	}
}

// wantSame compares all filters of two engines.
func wantSame(t tester, got, want map[string]string) {
	t.Helper()
	for name, w := range want {
		if g := got[name]; g != w {
			t.Errorf("filter %q is\n%s, want\n%s", name, g, w)
		}
	}
	for name, g := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("filter %q, %s, should not be there", name, g)
		}
	}
}

// digest returns the digest of key i.
func digest(i int) umbel.Digest { return umbel.Hasher{}.HashString(fmt.Sprint(i)) }

func digests(from, to int) []umbel.Digest {
	var ds []umbel.Digest
	for i := from; i < to; i++ {
		ds = append(ds, digest(i))
	}
	return ds
}

// kinds are those of which a filter can be made from keys and a rate.
func kinds(t testing.TB, keys uint64) []string {
	t.Helper()
	var names []string
	for _, v := range filter.All {
		if _, err := v.New(umbel.Goal{Keys: keys, FPRate: .01}, nil); err == nil {
			names = append(names, v.Name)
		}
	}
	if len(names) < 5 {
		t.Fatalf("only %q", names)
	}
	return names
}

// make makes a filter of each kind, named after it.
func (n *node) make(t testing.TB, keys uint64) []*engine.Filter {
	t.Helper()
	var filters []*engine.Filter
	for _, kind := range kinds(t, keys) {
		f, _, err := n.Create(kind, kind, umbel.Goal{Keys: keys, FPRate: .01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		filters = append(filters, f)
	}
	return filters
}

// wantKeys checks that no key is missing in any filter.
func wantKeys(t tester, e *engine.Engine, names []string, ds []umbel.Digest) {
	t.Helper()
	found := make([]bool, len(ds))
	for _, name := range names {
		f := e.Get([]byte(name))
		if f == nil {
			t.Errorf("filter %q is gone", name)
			continue
		}
		f.Has(found, ds)
		for i, ok := range found {
			if !ok {
				t.Errorf("filter %q: key %d of %d is gone", name, i, len(ds))
				break
			}
		}
	}
}

// check reads what a disk has, as a start does, and starts nothing.
func check(ctx context.Context, l *wal.Log, files *snapfile.Dir, e *engine.Engine) (Report, error) {
	r, err := recovery.Run(ctx, l, files, e, recovery.Options{Log: slog.New(slog.DiscardHandler)})
	return r.Report, err
}
