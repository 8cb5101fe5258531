package store

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// pausing is a journal whose Append can be stopped after it took a position.
type pausing struct {
	*Store
	armed  atomic.Bool
	taken  chan struct{} // closed when a change has its position
	resume chan struct{}
}

func (p *pausing) Append(c engine.Change) engine.Position {
	pos := p.Store.Append(c)
	if p.armed.CompareAndSwap(true, false) {
		close(p.taken)
		<-p.resume
	}
	return pos
}

// A snapshot has a change that is in the log before the snapshot begins, also if the goroutine that makes
// the change was interrupted after the journal took it: the log that follows the snapshot lacks it.
func TestSnapshotDuringChange(t *testing.T) {
	goal := umbel.Goal{Keys: 100, FPRate: .01}
	for name, change := range map[string]func(n *node) error{
		"add": func(n *node) error {
			_, _, err := n.Get([]byte("f")).Add(nil, digests(100, 120))
			return err
		},
		"rename": func(n *node) error {
			_, err := n.Rename([]byte("f"), []byte("g"), false)
			return err
		},
		"create": func(n *node) error {
			_, _, err := n.Create("g", "bloom", goal, nil)
			return err
		},
		"delete": func(n *node) error {
			_, _, err := n.Delete([]byte("f"))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDisk()
			n := start(t, d, Options{})
			p := &pausing{Store: n.Store, taken: make(chan struct{}), resume: make(chan struct{})}
			n.SetJournal(p)
			f, _, err := n.Create("f", "bloom", goal, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := f.Add(nil, digests(0, 20)); err != nil {
				t.Fatal(err)
			}
			if err := n.Snapshot(t.Context()); err != nil {
				t.Fatal(err)
			}
			p.armed.Store(true)
			changed, taken := make(chan error, 1), make(chan error, 1)
			go func() { changed <- change(n) }()
			<-p.taken
			if err := n.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
			go func() { taken <- n.Snapshot(t.Context()) }()
			select {
			case err = <-taken: // it should wait for the change
				taken <- err
			case <-time.After(50 * time.Millisecond):
			}
			close(p.resume)
			for _, done := range []chan error{taken, changed} {
				if err := <-done; err != nil {
					t.Fatal(err)
				}
			}
			want := contents(n.Engine)
			n.kill()
			n = start(t, d, Options{})
			wantSame(t, contents(n.Engine), want)
			n.end(t)
		})
	}
}
