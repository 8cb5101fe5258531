package wal_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
)

const segmentBytes = 64 << 10

var errFault = errors.New("fault")

var ctx = context.Background()

// entry is a batch with its number. Data begins with number and term.
type entry struct {
	Index, Term uint64
	Data, Scope []byte
}

// entryOf returns an entry whose data follows from index and term.
func entryOf(index, term uint64) entry {
	data := binary.LittleEndian.AppendUint64(nil, index)
	data = binary.LittleEndian.AppendUint64(data, term)
	e := entry{Index: index, Term: term, Data: append(data, bytes.Repeat([]byte{byte(index)}, int(index*367%2000))...)}
	if index%5 != 0 {
		e.Scope = fmt.Appendf(nil, "scope of %d", index)
	}
	return e
}

// parsed returns the entry with the number and the data of a batch.
func parsed(number uint64, data []byte) entry {
	return entry{Index: number, Term: binary.LittleEndian.Uint64(data[8:]), Data: data}
}

func same(a, b entry) bool {
	return a.Index == b.Index && a.Term == b.Term && bytes.Equal(a.Data, b.Data)
}

// write proposes entries. It returns an error if one gets another index than its own.
func write(l *wal.Log, entries ...entry) error {
	for _, e := range entries {
		if n, err := l.Propose(ctx, e.Data, e.Scope); err != nil {
			return err
		} else if n != e.Index {
			return fmt.Errorf("entry %d was written as %d", e.Index, n)
		}
	}
	return nil
}

// add proposes and commits entries.
func add(l *wal.Log, entries ...entry) error {
	if err := write(l, entries...); err != nil {
		return err
	}
	_, err := l.Commit(ctx)
	return err
}

// bench is a log on a simulated disk.
type bench struct {
	*testing.T
	disk *disktest.Disk
	o    wal.Options
	log  *wal.Log
}

func newBench(t *testing.T) *bench {
	b := &bench{T: t, disk: disktest.NewDisk(), o: wal.Options{SegmentBytes: segmentBytes}}
	b.open()
	t.Cleanup(func() { b.log.Close() })
	return b
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) wants(err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Fatalf("error %v, want %v", err, want)
	}
}

func (b *bench) open() {
	b.Helper()
	var err error
	b.log, err = wal.OpenDir(b.disk.Dir(), b.o)
	b.must(err)
}

func (b *bench) again() {
	b.Helper()
	b.must(b.log.Close())
	b.open()
}

// fill appends n entries, each with an operation of its own.
func (b *bench) fill(n int) {
	b.Helper()
	for range n {
		b.must(add(b.log, entryOf(b.log.Next(), 1)))
	}
}

func (b *bench) bounds(first, last uint64) {
	b.Helper()
	if f, l := b.log.Bounds(); f != first || l != last {
		b.Fatalf("bounds %d, %d, want %d, %d", f, l, first, last)
	}
}

// read reads with ReadOver and returns what came: "3-7" for entries, "!4-5" for holes.
func read(t *testing.T, l *wal.Log, from uint64) string {
	t.Helper()
	var parts []string
	var first, last uint64
	flush := func() {
		if last != 0 {
			parts = append(parts, fmt.Sprintf("%d-%d", first, last))
		}
		last = 0
	}
	err := l.ReadOver(ctx, from, func(number uint64, data []byte) error {
		e := parsed(number, data)
		if !same(e, entryOf(e.Index, e.Term)) {
			t.Errorf("entry %d is altered", e.Index)
		}
		if last == 0 || e.Index != last+1 {
			flush()
			first = e.Index
		}
		last = e.Index
		return nil
	}, func(h wal.Hole) error {
		flush()
		if !errors.Is(h.Err, wal.ErrHole) {
			t.Errorf("hole %d to %d: %v", h.First, h.Last, h.Err)
		}
		if h.Scopes != nil && uint64(len(h.Scopes)) != h.Last-h.First+1 {
			t.Errorf("hole %d to %d: %d scopes", h.First, h.Last, len(h.Scopes))
		}
		for i, scope := range h.Scopes {
			if want := entryOf(h.First+uint64(i), 1).Scope; !bytes.Equal(scope, want) {
				t.Errorf("the scope of entry %d is %q, want %q", h.First+uint64(i), scope, want)
			}
		}
		parts = append(parts, fmt.Sprintf("!%d-%d", h.First, h.Last))
		return nil
	})
	flush()
	if err != nil {
		t.Errorf("read from %d: %v", from, err)
	}
	return strings.Join(parts, " ")
}

func (b *bench) read(from uint64, want string) {
	b.Helper()
	if got := read(b.T, b.log, from); got != want {
		b.Fatalf("read from %d: %s, want %s", from, got, want)
	}
}

func TestAppend(t *testing.T) {
	b := newBench(t)
	b.bounds(1, 0)
	b.read(1, "")
	b.fill(5)
	b.bounds(1, 5)
	b.read(1, "1-5")
	b.read(4, "4-5")
	b.read(6, "")
	stop := errors.New("stop")
	b.wants(b.log.Read(ctx, 1, func(uint64, []byte) error { return stop }), stop)
	b.must(write(b.log, entryOf(6, 2), entryOf(7, 2)))
	b.must(write(b.log, entryOf(8, 3)))
	b.bounds(1, 5)
	if durable, err := b.log.Commit(ctx); durable != 8 || err != nil {
		t.Errorf("synced up to %d, %v, want 8", durable, err)
	}
	b.read(1, "1-8")
	b.again()
	b.bounds(1, 8)
	b.read(1, "1-8")
	if b.log.Health() != nil || b.log.Torn() != "" || b.log.Bytes() == 0 {
		t.Errorf("health %v, torn %q, %d bytes", b.log.Health(), b.log.Torn(), b.log.Bytes())
	}
}

func TestRefusedEntries(t *testing.T) {
	b := newBench(t)
	b.fill(2)
	for _, c := range []struct{ data, scope int }{{0, 0}, {wal.MaxBatch + 1, 0}, {1, wal.MaxScope + 1}} {
		if add(b.log, entry{Index: 3, Data: make([]byte, c.data), Scope: make([]byte, c.scope)}) == nil {
			t.Errorf("a batch of %d bytes with a scope of %d was accepted", c.data, c.scope)
		}
	}
	b.must(add(b.log, entry{Index: 3, Data: make([]byte, wal.MaxBatch)})) // larger than a segment
	b.must(add(b.log, entry{Index: 4, Data: make([]byte, 1), Scope: make([]byte, wal.MaxScope)}))
	sizes := map[uint64]int{}
	b.again()
	b.must(b.log.Read(ctx, 1, func(number uint64, data []byte) error { sizes[number] = len(data); return nil }))
	if len(sizes) != 4 || sizes[3] != wal.MaxBatch || sizes[4] != 1 {
		t.Errorf("sizes %v", sizes)
	}
}

func TestSegments(t *testing.T) {
	b := newBench(t)
	b.fill(500)
	segments := func() []string {
		return slices.DeleteFunc(b.disk.Names(), func(s string) bool { return !strings.HasSuffix(s, ".wal") })
	}
	n := len(segments())
	if n < 5 {
		t.Fatalf("%d segments of 500 entries of 1 KB on average, want at least 5", n)
	}
	b.read(1, "1-500")
	b.read(321, "321-500")
	b.must(b.log.Purge(ctx, 301))
	b.bounds(301, 500)
	b.read(301, "301-500")
	b.read(299, "!299-300 301-500")
	if got := len(segments()); got >= n {
		t.Errorf("%d segments after a cut, %d before", got, n)
	}
	spares := slices.DeleteFunc(b.disk.Names(), func(s string) bool { return !strings.HasSuffix(s, ".old") })
	if len(spares) != 2 {
		t.Errorf("spare segments %v, want 2", spares)
	}
	b.fill(300)
	b.again()
	b.read(301, "301-800")
	b.must(b.log.Purge(ctx, 801))
	b.bounds(801, 800)
	b.again()
	b.bounds(801, 800)
	b.fill(2)
	b.read(801, "801-802")
	if b.log.Purge(ctx, 804) == nil {
		t.Error("an entry that does not exist was removed")
	}
}

// A segment is not removed while it is read.
func TestCutWhileReading(t *testing.T) {
	b := newBench(t)
	b.fill(300)
	next := uint64(1)
	b.must(b.log.Read(ctx, 1, func(number uint64, data []byte) error {
		e := parsed(number, data)
		if e.Index == 10 {
			b.must(b.log.Purge(ctx, 290))
			b.fill(200)
		}
		if e.Index != next || !same(e, entryOf(next, 1)) {
			return fmt.Errorf("entry %d, want %d", e.Index, next)
		}
		next++
		return nil
	}))
	if next != 301 {
		t.Errorf("read up to %d, want 300", next-1)
	}
	if names := b.disk.Names(); names[0] == "00000000000000000001.wal" {
		t.Errorf("files %v: the first segment was not removed", names)
	}
	b.read(290, "290-500")
}

func TestReadOnly(t *testing.T) {
	b := newBench(t)
	b.o.ReadOnly = true
	if _, err := wal.OpenDir(disktest.NewDisk().Dir(), b.o); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want %v", err, fs.ErrNotExist)
	}
	b.fill(100)
	b.must(write(b.log, entryOf(101, 1)))
	b.disk.Kill()
	last := b.disk.Names()[len(b.disk.Names())-3] // the files of the head are the last two
	torn := b.disk.File(last)
	end := bytes.LastIndex(torn, []byte("umb\x01")) + 80
	clear(torn[end:])
	b.disk.SetFile(last, torn)
	before := map[string][]byte{}
	for _, name := range b.disk.Names() {
		before[name] = b.disk.File(name)
	}
	b.disk.Before(func(op disktest.Op, name string) error {
		if !op.ReadOnly() {
			t.Errorf("%s of %s in a log that is read-only", op, name)
		}
		return nil
	})
	b.open()
	if b.log.Torn() == "" {
		t.Error("the incomplete entry is not reported")
	}
	b.read(1, "1-100")
	b.wants(add(b.log, entryOf(101, 1)), wal.ErrReadOnly)
	b.wants(b.log.Purge(ctx, 10), wal.ErrReadOnly)
	_, err := b.log.Commit(ctx)
	b.wants(err, wal.ErrReadOnly)
	b.must(b.log.Close())
	b.disk.Before(nil)
	if names := b.disk.Names(); len(names) != len(before) {
		t.Errorf("files %v", names)
	}
	for name, data := range before {
		if !bytes.Equal(b.disk.File(name), data) {
			t.Errorf("%s was changed", name)
		}
	}
	b.o.ReadOnly = false
	b.open()
	if b.log.Torn() == "" {
		t.Error("the incomplete entry is not reported")
	}
	b.again()
	if b.log.Torn() != "" {
		t.Errorf("reported again: %s", b.log.Torn())
	}
	b.fill(1)
	b.read(1, "1-101")
}

func TestClosed(t *testing.T) {
	b := newBench(t)
	b.fill(1)
	b.must(b.log.Close())
	b.must(b.log.Close())
	if add(b.log, entryOf(2, 1)) == nil || b.log.Read(ctx, 1, func(uint64, []byte) error { return nil }) == nil || b.log.Health() == nil {
		t.Error("a closed log works")
	}
}

func TestReadWhileWriting(t *testing.T) {
	b := newBench(t)
	const n = 400
	var g sync.WaitGroup
	for range 2 {
		g.Go(func() {
			for last := uint64(0); last < n; {
				_, from := b.log.Bounds()
				next := uint64(1)
				if err := b.log.Read(ctx, 1, func(number uint64, data []byte) error {
					e := parsed(number, data)
					if !same(e, entryOf(next, 1)) {
						return fmt.Errorf("entry %d, want %d", e.Index, next)
					}
					next++
					return nil
				}); err != nil {
					b.Error(err)
					return
				}
				if last = next - 1; last < from {
					b.Errorf("read up to %d, after entry %d was durable", last, from)
				}
			}
		})
	}
	written := make(chan struct{}, 4)
	g.Go(func() { // syncs run while the next entries are written
		for range written {
			if _, err := b.log.Commit(ctx); err != nil {
				b.Error(err)
			}
		}
	})
	for i := uint64(1); i <= n; i++ {
		if err := write(b.log, entryOf(i, 1)); err != nil {
			b.Error(err)
		}
		written <- struct{}{}
	}
	close(written)
	g.Wait()
	b.read(1, fmt.Sprint("1-", n))
}
