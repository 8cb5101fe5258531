package recovery_test

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/durable/recovery"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
)

// A lost batch affects the filters that it may have changed: not those whose copy is younger, and not
// those that were created after it.
func TestLostBatch(t *testing.T) {
	w := newWorld(t, true)
	w.create("early")
	w.create("late")
	var lost uint64
	w.snap(func() { lost = w.add("early", 50_000, 50_100) }) // "early" was copied, "late" is copied afterwards
	w.add("late", 50_000, 50_200)
	w.create("new")
	w.wantWhole("early", "late", "new")
	w.log.Lose(lost)
	r := w.wantLost([]string{"early", "late", "new"}, "early")
	if _, err := w.recover(false); !errors.Is(err, wal.ErrHole) {
		t.Errorf("error %v, want %v", err, wal.ErrHole)
	}
	if len(r.Report.Lost) != 1 {
		t.Errorf("losses %q", r.Report.Lost)
	}
}

// A batch that is lost at the end of the log may have changed every filter.
func TestLostEnd(t *testing.T) {
	w := newWorld(t, true)
	w.create("a")
	w.create("b")
	w.snap(nil)
	w.log.Lose(w.add("b", 50_000, 50_100))
	w.wantLost([]string{"a", "b"}, "a", "b")
}

// If the copy of a filter in the last snapshot is damaged, the previous copy and more of the log have all
// its keys.
func TestOlderCopy(t *testing.T) {
	w := newWorld(t, true)
	w.create("a")
	w.snap(nil)
	first := w.pieces()
	w.add("a", 50_000, 55_000)
	w.snap(nil)
	w.add("a", 55_000, 56_000)
	piece := w.newPiece(first)
	w.files.Flip(piece, 12345)
	if r := w.wantWhole("a"); !r.Damaged || !strings.Contains(r.log, "using the previous one") {
		t.Errorf("damaged %v, logged %q", r.Damaged, r.log)
	}
}

// A filter that did not change since the first of two snapshots is complete in the second. Changes
// between them are only needed by a filter whose copy in the second is damaged.
func TestLostBatchOfAnOlderCopy(t *testing.T) {
	w := newWorld(t, true)
	w.create("idle")
	w.create("busy")
	w.snap(nil)
	first := w.pieces()
	lost := w.add("busy", 50_000, 55_000)
	w.snap(nil)
	w.add("busy", 55_000, 56_000)
	w.log.Lose(lost)
	w.wantWhole("idle", "busy")
	w.files.Flip(w.newPiece(first), 12345)
	w.wantLost([]string{"idle", "busy"}, "busy")
}

// A check also reads what only the previous snapshot has: it would be needed if the last one were damaged.
func TestCheckPrevious(t *testing.T) {
	w := newWorld(t, true)
	w.create("a")
	w.snap(nil)
	first := w.pieces()
	w.add("a", 50_000, 55_000)
	w.snap(nil)
	if r := w.wantWhole("a"); len(r.Report.Damaged) != 0 {
		t.Errorf("damaged: %q", r.Report.Damaged)
	}
	w.files.Flip(first[0], 12345)
	if r := w.wantWhole("a"); len(r.Report.Damaged) != 0 {
		t.Errorf("damaged without a check: %q", r.Report.Damaged)
	}
	w.check = true
	if r := w.wantWhole("a"); len(r.Report.Damaged) != 1 || !strings.Contains(r.Report.Damaged[0], `filter "a"`) {
		t.Errorf("damaged: %q", r.Report.Damaged)
	}
	for _, piece := range first {
		w.files.Lose(piece)
	}
	if r := w.wantWhole("a"); len(r.Report.Damaged) == 0 || !strings.Contains(r.Report.Damaged[len(r.Report.Damaged)-1], "catalog") {
		t.Errorf("damaged: %q", r.Report.Damaged)
	}
}

// If no copy of a filter can be read, only this filter is lost, and the log before the last snapshot is
// not needed.
func TestLostCells(t *testing.T) {
	for _, logged := range []bool{true, false} {
		w := newWorld(t, logged)
		w.create("damaged")
		w.snap(nil)
		damaged := w.pieces()[0]
		w.create("whole")
		w.snap(nil)
		w.files.Lose(damaged)
		r := w.wantLost([]string{"damaged", "whole"}, "damaged")
		if len(r.Report.Lost) != 1 {
			t.Errorf("losses %q, want one", r.Report.Lost)
		}
		if strings.Contains(r.log, "previous") { // both snapshots have the same piece
			t.Errorf("logged %q", r.log)
		}
	}
}

// A filter is incomplete if no copy of it can be read and the log does not create it.
func TestMissingFilter(t *testing.T) {
	w := newWorld(t, true)
	w.create("old")
	w.snap(nil)
	first := w.pieces()
	_, before := w.open.Bounds()
	w.create("young")
	_, created := w.open.Bounds()
	w.snap(nil)
	w.files.Flip(w.newPiece(first), 12345)
	w.wantWhole("old", "young") // the log creates it
	for number := before + 1; number <= created; number++ {
		w.log.Lose(number)
	}
	r := w.wantLost([]string{"old", "young"}, "old", "young")
	if !slices.ContainsFunc(r.Report.Lost, func(what string) bool { return strings.Contains(what, `filter "young"`) }) {
		t.Errorf("losses %q", r.Report.Lost)
	}
}

// A piece that the disk cannot read may be undamaged: a start fails, unless the loss is accepted. It is
// then like a damaged one.
func TestUnreadablePiece(t *testing.T) {
	w := newWorld(t, true)
	w.create("a")
	w.snap(nil)
	first := w.pieces()
	w.add("a", 50_000, 55_000)
	w.snap(nil)
	second := w.newPiece(first)
	failing := func(names ...string) {
		w.files.Before(func(op disktest.Op, name string) error {
			if op == disktest.Read && slices.Contains(names, name) {
				return syscall.EIO
			}
			return nil
		})
	}
	unreadable := func(name string) {
		t.Helper()
		_, err := w.recover(false)
		if !errors.Is(err, snapfile.ErrUnreadable) || errors.Is(err, recovery.ErrLost) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "--accept-loss") {
			t.Errorf("error %v", err)
		}
	}
	failing(second)
	unreadable(second)
	r, err := w.recover(true)
	if err != nil {
		t.Fatal(err)
	}
	w.wantKeys(r, "a")
	if r.LostLen() != 0 || !strings.Contains(r.log, second) {
		t.Errorf("%d filters lost data; logged %q", r.LostLen(), r.log)
	}
	failing(w.pieces()...) // of both snapshots, with their catalogs
	unreadable("piece-")
	if r, err = w.recover(true); err != nil {
		t.Fatal(err)
	}
	if len(r.Report.Lost) == 0 || !strings.Contains(r.Report.Lost[0], "piece-") {
		t.Errorf("losses %q", r.Report.Lost)
	}
	manifests := slices.DeleteFunc(w.files.Names(), func(name string) bool { return !strings.HasPrefix(name, "manifest-") })
	failing(manifests[2:]...) // both copies of the last one
	unreadable(manifests[2])
	if r, err = w.recover(true); err != nil {
		t.Fatal(err)
	}
	w.wantKeys(r, "a")
	if r.LostLen() != 0 {
		t.Errorf("%d filters lost data: %q", r.LostLen(), r.Report.Lost)
	}
}

// A replayer of a log that must contain everything reports missing changes.
func TestReplayer(t *testing.T) {
	w := newWorld(t, true)
	w.create("a")
	middle := w.add("a", 50_000, 50_100)
	w.add("a", 50_100, 50_200)
	var batches [][]byte
	if err := w.open.Read(t.Context(), 1, func(_ uint64, b []byte) error {
		batches = append(batches, slices.Clone(b))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	replay := func(batches [][]byte) (recovered, error) {
		r := recovered{Engine: newEngine()}
		p := recovery.NewReplayer(r.Engine)
		for _, b := range batches {
			if err := p.Batch(b); err != nil {
				return r, err
			}
		}
		var err error
		r.Report, err = p.End()
		return r, err
	}
	r, err := replay(batches)
	if err != nil || r.Report.Batches != uint64(len(batches)) || r.Report.Filters != 1 {
		t.Errorf("%+v, %v", r.Report, err)
	}
	w.wantKeys(r, "a")
	i := int(middle) - 1
	if _, err = replay(slices.Delete(slices.Clone(batches), i, i+1)); !errors.Is(err, recovery.ErrLost) {
		t.Errorf("a batch is missing: %v", err)
	}
	last := batches[len(batches)-1] // it ends with a key, while the first one may end with the record of one byte that ends the creation
	if _, err = replay(append(batches[:len(batches)-1:len(batches)-1], last[:len(last)-1])); err == nil || errors.Is(err, recovery.ErrLost) {
		t.Errorf("a batch is cut: %v", err)
	}
}
