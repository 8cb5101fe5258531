package waltest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
)

// bench is a log at a test.
type bench struct {
	*testing.T
	*Disk
	log *wal.Log
	got []string // what was read, in order

	written []byte // the batch that was proposed and not committed
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) open() {
	b.Helper()
	b.openWith(Options())
}

func (b *bench) openWith(o wal.Options) {
	b.Helper()
	var err error
	b.log, err = b.OpenWith(o)
	b.must(err)
}

func (b *bench) again() {
	b.Helper()
	b.must(b.log.Close())
	b.open()
}

// commit proposes a batch, if that was not done before, and commits it.
func (b *bench) commit(batch []byte) (uint64, error) {
	if b.written == nil || !bytes.Equal(b.written, batch) {
		b.written = nil
		if _, err := b.log.Propose(b.Context(), batch, nil); err != nil {
			return 0, err
		}
		b.written = batch
	}
	n, err := b.log.Commit(b.Context())
	if err == nil {
		b.written = nil
	}
	return n, err
}

func (b *bench) append(text string, want uint64) {
	b.Helper()
	n, err := b.commit([]byte(text))
	b.must(err)
	if n != want {
		b.Fatalf("%s got number %d, want %d", text, n, want)
	}
}

// fill appends batches 1 to n, each of them its own number.
func (b *bench) fill(n int) {
	b.Helper()
	for i := 1; i <= n; i++ {
		b.append(fmt.Sprint(i), uint64(i))
	}
}

func (b *bench) each(number uint64, batch []byte) error {
	b.got = append(b.got, string(batch))
	return nil
}

// read reads from a number and compares what comes, numbers of batches, and whether it ends with a hole.
func (b *bench) read(from uint64, hole bool, want ...string) {
	b.Helper()
	b.got = nil
	err := b.log.Read(b.Context(), from, b.each)
	if hole != errors.Is(err, wal.ErrHole) || !hole && err != nil {
		b.Fatalf("read from %d: error %v, want a hole: %v", from, err, hole)
	}
	if !slices.Equal(b.got, want) {
		b.Fatalf("read from %d: %q, want %q", from, b.got, want)
	}
}

// readOver compares what is read of batches and holes, these written as -first..last.
func (b *bench) readOver(from uint64, want ...string) {
	b.Helper()
	b.got = nil
	b.must(b.log.ReadOver(b.Context(), from, b.each, func(h wal.Hole) error {
		if !errors.Is(h.Err, wal.ErrHole) {
			b.Errorf("why is %v", h.Err)
		}
		b.got = append(b.got, fmt.Sprintf("-%d..%d", h.First, h.Last))
		return nil
	}))
	if !slices.Equal(b.got, want) {
		b.Fatalf("read over holes from %d: %q, want %q", from, b.got, want)
	}
}

func (b *bench) bounds(first, last uint64) {
	b.Helper()
	if f, l := b.log.Bounds(); f != first || l != last {
		b.Fatalf("bounds %d, %d, want %d, %d", f, l, first, last)
	}
}

func (b *bench) wants(err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Fatalf("error %v, want %v", err, want)
	}
}
