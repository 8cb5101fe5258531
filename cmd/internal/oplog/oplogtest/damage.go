package oplogtest

import (
	"github.com/umbel-filters/umbel/cmd/internal/oplog"
)

func (b *bench) middle() {
	b.fill(9)
	b.Lose(oplog.Batches, 4, 5, 8)
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
	b.Lose(oplog.Batches, 4, 5)
	b.again()
	b.bounds(1, 5)
	_, err := b.log.Append(b.Context(), []byte("x"))
	b.wants(err, oplog.ErrHole)
	b.wants(b.log.Health(), oplog.ErrHole)
	b.wants(b.log.Purge(b.Context(), 3), oplog.ErrHole)
	b.read(1, true, "1", "2", "3")
	_, err = b.log.Append(b.Context(), []byte("x"))
	b.wants(err, oplog.ErrHole)
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
	b.Lose(oplog.Batches, 7)
	b.again()
	b.read(8, false)
	b.append("8", 8)
	b.again()
	b.read(8, false, "8")
	b.Lose(oplog.Batches, 3)
	b.readOver(1, "1", "2", "-3..5", "6", "8")
}

func (b *bench) forgotten() {
	b.fill(5)
	b.forgetEnd(oplog.Batches, 3)
	b.bounds(1, 5)
	b.read(1, true, "1", "2", "3")
	b.readOver(1, "1", "2", "3", "-4..5")
	b.append("6", 6)
	b.again()
	b.append("7", 7)
	b.read(1, false, "1", "2", "3", "6", "7")
	b.forgetEnd(oplog.Batches, 0)
	b.bounds(1, 7)
	b.read(1, true)
	b.read(8, false)
	b.append("8", 8)
	b.again()
	b.read(8, false, "8")
}

func (b *bench) everything() {
	b.fill(3)
	b.Lose(oplog.Batches, 1, 2, 3)
	b.again()
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
	b.Lose(oplog.Batches, 1, 2)
	b.again()
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
		b.Flip(oplog.Batches, 3, bit)
		b.read(1, true, "1", "2")
		b.readOver(1, "1", "2", "-3..3", "4", "5")
		b.Flip(oplog.Batches, 3, bit)
	}
	b.read(1, false, "1", "2", "3", "4", "5")
	for bit := 0; bit < bits; bit += 61 {
		b.Flip(oplog.Batches, 5, bit)
		b.again()
		b.read(1, true, "1", "2", "3", "4")
		b.Flip(oplog.Batches, 5, bit)
	}
	b.Flip(oplog.Batches, 5, 17)
	b.again()
	b.readOver(1, "1", "2", "3", "4", "-5..5")
	b.append("6", 6)
	b.again()
	b.read(1, false, "1", "2", "3", "4", "6")
}

func (b *bench) torn() {
	b.fill(3)
	b.FailAppends(1, true, errFault)
	_, err := b.log.Append(b.Context(), []byte("not acknowledged"))
	b.wants(err, errFault)
	b.Tear(oplog.Batches, 4)
	b.again()
	if b.log.Torn() == "" {
		b.Error("nothing is said of the torn end")
	}
	b.bounds(1, 3)
	b.read(1, false, "1", "2", "3")
	b.again()
	if b.log.Torn() != "" {
		b.Error("said again: ", b.log.Torn())
	}
	b.read(1, false, "1", "2", "3")
	b.append("5", 5)
	b.again()
	b.bounds(1, 5)
	b.read(1, false, "1", "2", "3", "5")
	b.read(4, false, "5")
	// The same while it is open.
	b.FailAppends(1, true, errFault)
	_, err = b.log.Append(b.Context(), []byte("6"))
	b.wants(err, errFault)
	b.Tear(oplog.Batches, 6)
	b.append("6", 7)
	b.read(1, false, "1", "2", "3", "5", "6")
	b.again()
	b.read(1, false, "1", "2", "3", "5", "6")
	// But not of one that was acknowledged.
	b.Tear(oplog.Batches, 7)
	b.again()
	b.read(1, true, "1", "2", "3", "5")
}

// replaced puts the third batch of another log in the place of ours.
func (b *bench) replaced() {
	b.fill(2)
	b.append("x", 3)
	b.append("y", 4)
	other := NewDisk()
	l, err := other.Open(b.Context())
	b.must(err)
	for i := range 4 {
		_, err := l.Append(b.Context(), []byte{byte(i)})
		b.must(err)
	}
	m := other.Medium()
	strange, err := m.Get(b.Context(), oplog.Batches, 3)
	b.must(err)
	b.Replace(oplog.Batches, 3, strange)
	b.read(1, true, "1", "2")
	b.read(3, true, string([]byte{2}))
	b.again()
	b.read(1, true, "1", "2")
}

func (b *bench) marks() {
	b.fill(3)
	b.NoMarks(true)
	b.again()
	b.bounds(1, 3)
	b.read(1, true, "1", "2", "3")
	_, err := b.log.Append(b.Context(), []byte("x"))
	b.wants(err, oplog.ErrHole)
	b.readOver(1, "1", "2", "3", "-4..3")
	b.NoMarks(false)
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
