package waltest

import (
	"bytes"
	"errors"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
)

func (b *bench) middle() {
	b.fill(9)
	b.Lose(4, 5, 8)
	b.read(1, true, "1", "2", "3")
	b.read(4, true)
	b.read(6, true, "6", "7")
	b.read(9, false, "9")
	b.readOver(1, "1", "2", "3", "-4..5", "6", "7", "-8..8", "9")
	b.readOver(5, "-5..5", "6", "7", "-8..8", "9")
	b.again()
	b.read(1, true, "1", "2", "3")
	b.append("10", 10)
	b.read(9, false, "9", "10")
}

func (b *bench) end() {
	b.fill(5)
	b.must(b.log.Close())
	b.Lose(4, 5)
	b.open()
	b.bounds(1, 5)
	_, err := b.commit([]byte("x"))
	b.wants(err, wal.ErrHole)
	b.wants(b.log.Health(), wal.ErrHole)
	b.wants(b.log.Purge(b.Context(), 3), wal.ErrHole)
	b.read(1, true, "1", "2", "3")
	_, err = b.commit([]byte("x"))
	b.wants(err, wal.ErrHole)
	b.readOver(2, "2", "3", "-4..5")
	b.must(b.log.Health())
	b.append("6", 6)
	// That the end was lost is accepted now, for good.
	b.read(1, false, "1", "2", "3", "6")
	b.again()
	b.append("7", 7)
	b.read(1, false, "1", "2", "3", "6", "7")
	b.read(5, false, "6", "7")
	// A snapshot that has all that was lost needs nobody's word.
	b.must(b.log.Close())
	b.Lose(7)
	b.open()
	b.read(8, false)
	b.append("8", 8)
	b.again()
	b.read(8, false, "8")
	b.Lose(3)
	b.readOver(1, "1", "2", "-3..5", "6", "8")
}

func (b *bench) forgotten() {
	b.fill(5)
	long := bytes.Repeat([]byte("x"), wal.MaxBatch) // which begins another file
	b.append(string(long), 6)
	b.must(b.log.Close())
	files := b.segments()
	b.Files.Lose(files[len(files)-1])
	b.open()
	b.bounds(1, 6)
	b.read(1, true, "1", "2", "3", "4", "5")
	b.readOver(1, "1", "2", "3", "4", "5", "-6..6")
	b.append("7", 7)
	b.again()
	b.append("8", 8)
	b.read(1, false, "1", "2", "3", "4", "5", "7", "8")
	b.must(b.log.Close())
	for _, name := range b.segments() {
		b.Files.Lose(name)
	}
	b.open()
	b.bounds(1, 8)
	b.read(1, true)
	b.read(9, false)
	b.append("9", 9)
	b.again()
	b.read(9, false, "9")
}

func (b *bench) everything() {
	b.fill(3)
	b.must(b.log.Close())
	b.Lose(1, 2, 3)
	b.open()
	b.bounds(1, 3)
	b.read(1, true)
	b.readOver(1, "-1..3")
	b.append("4", 4)
	b.read(4, false, "4")
	b.again()
	b.append("5", 5)
	b.read(4, false, "4", "5")
}

func (b *bench) beginning() {
	b.fill(5)
	b.must(b.log.Close())
	b.Lose(1, 2)
	b.open()
	b.bounds(1, 5)
	b.read(1, true)
	b.read(2, true)
	b.read(3, false, "3", "4", "5")
	b.readOver(1, "-1..2", "3", "4", "5")
}

func (b *bench) bits() {
	b.fill(5)
	const bits = 8 * (40 + 1)
	for bit := 0; bit < bits; bit += 7 {
		b.Flip(3, bit)
		b.read(1, true, "1", "2")
		b.readOver(1, "1", "2", "-3..3", "4", "5")
		b.Flip(3, bit)
	}
	b.read(1, false, "1", "2", "3", "4", "5")
	for bit := 0; bit < bits; bit += 61 {
		b.must(b.log.Close())
		b.Flip(5, bit)
		b.open()
		b.read(1, true, "1", "2", "3", "4")
		b.Flip(5, bit)
	}
	b.must(b.log.Close())
	b.Flip(5, 17)
	b.open()
	b.readOver(1, "1", "2", "3", "4", "-5..5")
	b.append("6", 6)
	b.again()
	b.read(1, false, "1", "2", "3", "4", "6")
}

func (b *bench) torn() {
	b.fill(3)
	b.FailAppends(1, true, errFault)
	_, err := b.commit([]byte("not acknowledged"))
	b.wants(err, errFault)
	b.tear(4)
	b.Kill()
	b.open()
	if b.log.Torn() == "" {
		b.Error("the incomplete end is not reported")
	}
	b.bounds(1, 3)
	b.read(1, false, "1", "2", "3")
	b.again()
	if b.log.Torn() != "" {
		b.Error("reported again: ", b.log.Torn())
	}
	b.read(1, false, "1", "2", "3")
	b.append("4", 4)
	b.again()
	b.bounds(1, 4)
	b.read(1, false, "1", "2", "3", "4")
	// But not of one that was acknowledged.
	b.must(b.log.Close())
	b.tear(4)
	b.open()
	b.read(1, true, "1", "2", "3")
}

// replaced replaces a file by that of another log.
func (b *bench) replaced() {
	b.fill(4)
	other := NewDisk()
	l, err := other.Open()
	b.must(err)
	for i := range 4 {
		_, err := l.Propose(b.Context(), []byte{byte(i)}, nil)
		b.must(err)
	}
	b.must(l.Close())
	b.must(b.log.Close())
	name := b.segments()[0]
	b.Files.SetFile(name, other.Files.File(name))
	b.open()
	for i, batch := range []string{"\x00", "\x01", "\x02", "\x03"} {
		b.read(uint64(i+1), true, []string{"\x00", "\x01", "\x02", "\x03"}[i:]...)
		if _, err := b.commit([]byte(batch)); !errors.Is(err, wal.ErrHole) {
			b.Fatalf("error %v, want %v", err, wal.ErrHole)
		}
	}
}

func (b *bench) lostHead() {
	b.fill(3)
	b.must(b.log.Close())
	b.LoseHead()
	b.open()
	b.bounds(1, 3)
	b.read(1, true, "1", "2", "3")
	_, err := b.commit([]byte("x"))
	b.wants(err, wal.ErrHole)
	b.readOver(1, "1", "2", "3", "-4..3")
	b.append("4", 4)
	b.again()
	b.read(1, false, "1", "2", "3", "4")
}

func (b *bench) ahead() {
	b.fill(3)
	b.read(6, true)
	b.readOver(6, "-4..5")
	b.append("6", 6)
	b.again()
	b.read(6, false, "6")
	b.read(1, false, "1", "2", "3", "6")
}
