package waltest

import (
	"encoding/binary"
	"fmt"
	"go.uber.org/goleak"

	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"sync"
	"testing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestLog: what was committed is read again, and what is lost is reported.
func TestLog(t *testing.T) {
	for _, c := range []struct {
		name string
		test func(b *bench)
	}{
		{"batches come back in order", (*bench).batches},
		{"batches outlast a close", (*bench).reopen},
		{"sizes have ends", (*bench).sizes},
		{"an append that failed is found again", (*bench).unknown},
		{"another batch after an append that failed", (*bench).another},
		{"a hole in the middle", (*bench).middle},
		{"a lost end", (*bench).end},
		{"a missing last file", (*bench).forgotten},
		{"everything lost", (*bench).everything},
		{"a lost beginning", (*bench).beginning},
		{"one bit of a batch", (*bench).bits},
		{"a torn end", (*bench).torn},
		{"a batch of another log", (*bench).replaced},
		{"a lost head", (*bench).lostHead},
		{"a snapshot ahead of the log", (*bench).ahead},
		{"a log opened to be checked", (*bench).check},
		{"purge", (*bench).purge},
		{"purge all", (*bench).purgeAll},
		{"a full disk", (*bench).full},
		{"reading while appending", (*bench).concurrent},
		{"closed", (*bench).closed},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &bench{T: t, Disk: NewDisk()}
			b.open()
			c.test(b)
			if b.log != nil {
				b.must(b.log.Close())
			}
		})
	}
}

func (b *bench) check() {
	b.fill(3)
	b.FailAppends(1, true, errFault)
	_, err := b.commit([]byte("not acknowledged"))
	b.wants(err, errFault)
	b.tear(4)
	b.Kill()
	for range 2 {
		o := Options()
		o.ReadOnly = true
		b.openWith(o)
		if b.log.Torn() == "" {
			b.Error("the incomplete end is not reported")
		}
		b.read(1, false, "1", "2", "3")
		_, err = b.commit([]byte("x"))
		b.wants(err, wal.ErrReadOnly)
		b.wants(b.log.Purge(b.Context(), 2), wal.ErrReadOnly)
		b.must(b.log.Close())
	}
	b.open()
	b.append("4", 4)
}

func (b *bench) purge() {
	b.fill(6)
	b.must(b.log.Purge(b.Context(), 4))
	b.bounds(4, 6)
	b.read(4, false, "4", "5", "6")
	b.read(1, true)
	b.again()
	b.bounds(4, 6)
	b.must(b.log.Purge(b.Context(), 2))
	b.bounds(4, 6)
	b.readOver(3, "-3..3", "4", "5", "6")
	if err := b.log.Purge(b.Context(), 8); err == nil {
		b.Error("batches to come were purged")
	}
	b.append("7", 7)
	b.read(4, false, "4", "5", "6", "7")
}

func (b *bench) purgeAll() {
	for i := range uint64(3) {
		b.append("x", 2*i+1)
		b.append("y", 2*i+2)
		b.must(b.log.Purge(b.Context(), 2*i+3))
		b.bounds(2*i+3, 2*i+2)
		b.again()
		b.bounds(2*i+3, 2*i+2)
		b.read(2*i+3, false)
	}
	b.append("z", 7)
	b.read(7, false, "z")
}

func (b *bench) full() {
	b.fill(2)
	b.Fill(true)
	for range 3 {
		if _, err := b.commit([]byte("3")); err == nil {
			b.Fatal("appended to a full disk")
		}
		if b.log.Health() == nil {
			b.Error("a full disk is healthy")
		}
	}
	b.read(1, false, "1", "2")
	b.Fill(false)
	b.append("3", 3)
	b.must(b.log.Health())
	b.read(1, false, "1", "2", "3")
}

func (b *bench) concurrent() {
	const n = 100
	var g sync.WaitGroup
	for range 2 {
		g.Go(func() {
			for last := uint64(0); last < n; {
				_, from := b.log.Bounds()
				next := uint64(1)
				err := b.log.Read(b.Context(), 1, func(number uint64, batch []byte) error {
					if number != next || binary.LittleEndian.Uint64(batch) != number {
						return fmt.Errorf("batch %d holds %x, want %d", number, batch, next)
					}
					next++
					return nil
				})
				if err != nil {
					b.Error(err)
					return
				}
				if last = next - 1; last < from {
					b.Errorf("read up to %d, after batch %d was appended", last, from)
				}
			}
		})
	}
	for i := uint64(1); i <= n; i++ {
		b.append(string(binary.LittleEndian.AppendUint64(nil, i)), i)
	}
	g.Wait()
}

func (b *bench) closed() {
	b.fill(1)
	b.must(b.log.Close())
	b.must(b.log.Close())
	if _, err := b.commit([]byte("x")); err == nil {
		b.Error("appended to a closed log")
	}
	if err := b.log.Read(b.Context(), 1, b.each); err == nil {
		b.Error("read a closed log")
	}
	if b.log.Health() == nil {
		b.Error("a closed log is healthy")
	}
	b.log = nil
}
