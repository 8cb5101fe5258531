package wal_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
)

// history is what a program did with a log, and what may have remained after its end.
type history struct {
	random *rand.Rand
	log    *wal.Log
	first  uint64            // the log begins with it at the latest
	maybe  uint64            // a Purge that was not acknowledged
	acked  uint64            // entries up to it are durable
	terms  map[uint64]uint64 // term of each entry that was written
	term   uint64
}

// step does something at random.
func (h *history) step() error {
	first, last := h.log.Bounds()
	switch n := h.random.IntN(20); {
	case n < 10:
		var es []entry
		for range 1 + h.random.IntN(3) {
			es = append(es, entryOf(h.log.Next()+uint64(len(es)), h.term))
		}
		for _, e := range es {
			h.terms[e.Index] = e.Term // even if the write fails, a part may remain
		}
		return write(h.log, es...)
	case n < 18:
		durable, err := h.log.Commit(ctx)
		if err == nil {
			h.acked = durable
		}
		return err
	case n < 19 && last > first:
		before := first + 1 + h.random.Uint64N(last-first)
		h.maybe = before
		err := h.log.Purge(ctx, before)
		if err == nil {
			h.first = before
		}
		return err
	}
	return nil
}

// check compares a log that was opened after the end of the program with what it did.
func (h *history) check(t *testing.T, l *wal.Log) {
	t.Helper()
	first, last := l.Bounds()
	if first < h.first || first > max(h.first, h.maybe) {
		t.Errorf("the log begins with %d, want %d", first, h.first)
	}
	if last < h.acked {
		t.Errorf("the log ends with %d, and %d was durable", last, h.acked)
	}
	next := first
	if err := l.Read(ctx, first, func(number uint64, data []byte) error {
		e := parsed(number, data)
		if e.Index != next || !same(e, entryOf(next, e.Term)) {
			return fmt.Errorf("entry %d, want %d", e.Index, next)
		}
		if e.Term != h.terms[next] {
			return fmt.Errorf("entry %d has term %d, want %d", next, e.Term, h.terms[next])
		}
		next++
		return nil
	}); err != nil {
		t.Errorf("after a crash without damage: %v", err)
	}
	if next != last+1 {
		t.Errorf("read up to %d of %d", next-1, last)
	}
}

// settle continues with a log that was opened again.
func (h *history) settle(t *testing.T, l *wal.Log) {
	t.Helper()
	h.first, h.acked = l.Bounds()
	h.maybe = 0
	h.term++
	terms := map[uint64]uint64{}
	if err := l.Read(ctx, h.first, func(number uint64, data []byte) error { e := parsed(number, data); terms[e.Index] = e.Term; return nil }); err != nil {
		t.Error(err)
	}
	h.terms = terms
}

// TestPowerCuts cuts the power, or kills the process, before an operation of the disk that is chosen at
// random; a write may be half done, or a sync fails. All that was durable remains.
func TestPowerCuts(t *testing.T) {
	cuts := 1000
	if testing.Short() {
		cuts = 200
	}
	random := rand.New(rand.NewPCG(7, 7))
	torn := 0
	var disk *disktest.Disk
	var h *history
	var end error
	for i := range cuts {
		if i%20 == 0 {
			disk = disktest.NewDisk()
			h = &history{random: random, terms: map[uint64]uint64{}, first: 1, term: 1}
			end = disktest.ErrKilled
			if i%60 == 0 {
				end = errFault
			}
		}
		left := random.IntN(300)
		half := random.IntN(2) == 0
		dead := false
		disk.Before(func(op disktest.Op, _ string) error {
			if left--; left < 0 {
				if !dead && half && op == disktest.Write {
					dead = true
					return disktest.Half{Err: end}
				}
				dead = true
				return end
			}
			return nil
		})
		l, err := wal.OpenDir(disk.Dir(), wal.Options{SegmentBytes: segmentBytes})
		if err == nil {
			h.log = l
			for err == nil {
				err = h.step()
			}
		}
		if !errors.Is(err, end) {
			t.Fatalf("crash %d: %v", i, err)
		}
		disk.Before(nil)
		if random.IntN(3) == 0 {
			disk.Kill()
		} else {
			disk.PowerCut(random)
		}
		if l, err = wal.OpenDir(disk.Dir(), wal.Options{SegmentBytes: segmentBytes, ReadOnly: true}); err == nil {
			if l.Torn() != "" {
				torn++
			}
			h.check(t, l)
			err = l.Close()
		} else if h.acked == 0 && strings.Contains(err.Error(), "no log") {
			err = nil
		}
		if err != nil {
			t.Fatalf("crash %d: %v", i, err)
		}
		if l, err = wal.OpenDir(disk.Dir(), wal.Options{SegmentBytes: segmentBytes}); err != nil {
			t.Fatalf("crash %d: %v", i, err)
		}
		h.check(t, l)
		h.settle(t, l)
		if i%2 == 0 {
			if err := l.Close(); err != nil {
				t.Fatalf("crash %d: %v", i, err)
			}
		}
		if t.Failed() {
			t.Fatalf("crash %d", i)
		}
	}
	t.Logf("%d crashes, %d torn ends", cuts, torn)
	if torn < cuts/30 {
		t.Errorf("%d torn ends in %d crashes: the test does not test them", torn, cuts)
	}
}

// Of three entries in flight a power cut leaves the last one. None was durable, so they are cut. If
// a later entry says that the first was durable, it is damage.
func TestTornOrDamaged(t *testing.T) {
	for _, damaged := range []bool{false, true} {
		b := newBench(t)
		b.fill(2)
		b.must(write(b.log, entryOf(3, 1)))
		if damaged {
			_, err := b.log.Commit(ctx)
			b.must(err)
		}
		b.must(write(b.log, entryOf(4, 1)))
		b.must(write(b.log, entryOf(5, 1)))
		b.disk.Kill()
		name := b.disk.Names()[0]
		file := b.disk.File(name)
		file[offsetOf(t, file, 3)+70] ^= 1
		b.disk.SetFile(name, file)
		// The head is older, as after a power cut, and names entry 2.
		for _, name := range heads {
			head := b.disk.File(name)
			if damaged {
				clear(head[newest(head):][:68])
			}
			b.disk.SetFile(name, head)
		}
		b.open()
		if damaged {
			b.read(1, "1-2 !3-3 4-5")
			if b.log.Torn() != "" {
				t.Errorf("torn: %s", b.log.Torn())
			}
		} else {
			b.read(1, "1-2")
			if b.log.Torn() == "" {
				t.Error("the cut is not reported")
			}
			b.fill(4)
			b.again()
			b.read(1, "1-6")
		}
	}
}

// newest returns the offset of the head with the highest sequence number.
func newest(head []byte) int {
	at := 0
	for i := 4096; i < len(head); i += 4096 {
		if head[i+8] > head[at+8] {
			at = i
		}
	}
	return at
}
