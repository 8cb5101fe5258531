package store

import (
	"errors"
	"syscall"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// After the loss of a batch, names may be missing and filters are incomplete until an operator acknowledges
// the loss, also after ends of the process and further writes.
func TestMissingNamesRemain(t *testing.T) {
	for _, head := range []bool{true, false} {
		d := newDisk()
		n := start(t, d, Options{})
		f, _, err := n.Create("a", "bloom", umbel.Goal{Keys: 1000, FPRate: .01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		addDurably(t, n, f, 0)
		addDurably(t, n, f, 10)
		n.kill()
		lost := uint64(0) // unknown
		if head {
			lost = 1
			numbers := d.Numbers()
			d.Lose(numbers[len(numbers)-1])
		} else {
			d.LoseHead()
		}
		if _, err := tryStart(d, Options{}); err == nil {
			t.Fatal("a start did not notice the loss")
		}
		broken := true // no snapshot succeeds. A full disk would refuse changes as well
		d.files.Before(func(op disktest.Op, _ string) error {
			if op == disktest.Write && broken {
				return syscall.EIO
			}
			return nil
		})
		n = start(t, d, Options{AcceptLoss: true})
		check := func(what string) {
			t.Helper()
			if m := n.MissingNames(); m == nil || m.Batches < lost || m.Since == 0 || n.LostLen() != 1 {
				t.Errorf("%s: missing names %v, %d incomplete filters", what, m, n.LostLen())
			}
		}
		check("accepted")
		addDurably(t, n, n.Get([]byte("a")), 20)
		n.kill()
		broken = false
		if n, err = tryStart(d, Options{}); err != nil { // the hole is still there
			n = start(t, d, Options{AcceptLoss: true})
		}
		check("after a kill")
		snap(t, n)
		n.kill()
		n = start(t, d, Options{})
		check("after a kill and a snapshot")
		addDurably(t, n, n.Get([]byte("a")), 30)
		snap(t, n)
		n.end(t)
		n = start(t, d, Options{})
		check("after snapshots")
		done, _, err := n.Acknowledge()
		if err != nil || !done {
			t.Errorf("acknowledged %v, %v", done, err)
		}
		n.end(t)
		n = start(t, d, Options{})
		if m := n.MissingNames(); m != nil || n.LostLen() != 1 {
			t.Errorf("acknowledged: missing names %v, %d incomplete filters", m, n.LostLen())
		}
		if err := n.CheckAbsent(); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("error %v", err)
		}
		n.end(t)
	}
}

// addDurably adds ten keys to a filter.
func addDurably(t *testing.T, n *node, f *engine.Filter, from int) {
	t.Helper()
	if _, _, err := f.Add(nil, digests(from, from+10)); err != nil {
		t.Fatal(err)
	}
	if err := n.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
}
