package waltest

import (
	"bytes"
	"errors"
	"fmt"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
)

func (b *bench) batches() {
	b.bounds(1, 0)
	b.read(1, false)
	b.fill(5)
	b.bounds(1, 5)
	b.read(1, false, "1", "2", "3", "4", "5")
	b.read(4, false, "4", "5")
	b.read(6, false)
	stop := errors.New("stop")
	b.wants(b.log.Read(b.Context(), 1, func(uint64, []byte) error { return stop }), stop)
	if b.log.Health() != nil || b.log.Bytes() == 0 || b.log.Torn() != "" {
		b.Errorf("health %v, %d bytes, torn %q", b.log.Health(), b.log.Bytes(), b.log.Torn())
	}
}

func (b *bench) reopen() {
	b.fill(3)
	b.again()
	b.bounds(1, 3)
	b.append("4", 4)
	b.again()
	b.read(1, false, "1", "2", "3", "4")
}

func (b *bench) sizes() {
	for _, n := range []int{0, wal.MaxBatch + 1} {
		if _, err := b.commit(make([]byte, n)); err == nil {
			b.Errorf("a batch of %d bytes was taken", n)
		}
	}
	long := bytes.Repeat([]byte("x"), wal.MaxBatch)
	for range 8 {
		b.append(string(long), b.last()+1)
	}
	b.append("y", 9)
	x := string(long)
	b.read(1, false, x, x, x, x, x, x, x, x, "y")
	b.again()
	b.read(3, false, x, x, x, x, x, x, "y")
}

func (b *bench) last() uint64 {
	_, last := b.log.Bounds()
	return last
}

var errFault = errors.New("fault")

func (b *bench) unknown() {
	for i, kept := range []bool{false, true, true, false} {
		b.FailAppends(1, kept, errFault)
		text := fmt.Sprint(i + 1)
		_, err := b.commit([]byte(text))
		b.wants(err, errFault)
		b.wants(b.log.Health(), errFault)
		b.append(text, uint64(i+1))
		b.must(b.log.Health())
	}
	// The same bytes are another batch when the first was acknowledged.
	b.append("4", 5)
	b.FailAppends(2, false, errFault)
	for range 2 {
		_, err := b.commit([]byte("6"))
		b.wants(err, errFault)
	}
	b.append("6", 6)
	b.read(1, false, "1", "2", "3", "4", "4", "6")
	b.FailAppends(1, true, errFault)
	_, err := b.commit([]byte("7"))
	b.wants(err, errFault)
	b.again()
	b.read(1, false, "1", "2", "3", "4", "4", "6", "7")
	b.append("8", 8)
}

func (b *bench) another() {
	for _, kept := range []bool{false, true} {
		b.FailAppends(1, kept, errFault)
		_, err := b.commit([]byte("a"))
		b.wants(err, errFault)
		want := b.last() + 1
		if kept {
			want++
		}
		b.append("b", want)
	}
	b.read(1, false, "b", "a", "b")
	b.again()
	b.read(1, false, "b", "a", "b")
}
