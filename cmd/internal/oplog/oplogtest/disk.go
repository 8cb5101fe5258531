// Package oplogtest has a log in memory whose disk fails, fills, slows and forgets as a
// test wants, and the suite that every medium of logs passes.
package oplogtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/umbel-filters/umbel/cmd/internal/oplog"
)

var errClosed = errors.New("oplogtest: closed, or killed")

// Disk is memory in which a log is kept, over its ends and deaths. The faults are those of
// its logs too. Its methods may be called concurrently.
type Disk struct {
	*Faults
	mu   sync.Mutex
	life int // of the process that has it open
	rows map[oplog.Row]*row
	file []byte // the marks
	safe []byte // the marks as they were synced
}

type row struct {
	first, last uint64
	messages    map[uint64][]byte
}

// NewDisk returns an empty disk.
func NewDisk() *Disk {
	d := &Disk{Faults: NewFaults(), rows: map[oplog.Row]*row{}}
	for _, r := range []oplog.Row{oplog.Batches} {
		d.rows[r] = &row{first: 1, messages: map[uint64][]byte{}}
	}
	return d
}

// Open opens the log of the disk. What had it open before is as good as killed.
func (d *Disk) Open(ctx context.Context) (oplog.Log, error) {
	return oplog.On(ctx, d.Medium(), oplog.Options{})
}

// Medium is what Open makes a log of: the disk with its faults.
func (d *Disk) Medium() oplog.Medium { return d.Over(d.Bare()) }

// Bare is Medium without the faults.
func (d *Disk) Bare() oplog.Medium {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.life++
	return &memory{disk: d, life: d.life}
}

// Kill ends what has the disk open, as kill -9 would: all it wrote is there.
func (d *Disk) Kill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.life++
}

// PowerCut ends what has the disk open, and takes what wasn't synced with it.
func (d *Disk) PowerCut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.life++
	d.file = bytes.Clone(d.safe)
}

// Clone returns another disk with the same contents and without faults.
func (d *Disk) Clone() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := NewDisk()
	for r, old := range d.rows {
		c.rows[r] = &row{first: old.first, last: old.last, messages: maps.Clone(old.messages)}
	}
	c.file, c.safe = bytes.Clone(d.file), bytes.Clone(d.safe)
	return c
}

// ForgetEnd makes a row end with that number, as if no more had ever been kept.
func (d *Disk) ForgetEnd(r oplog.Row, last uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := d.rows[r]
	maps.DeleteFunc(w.messages, func(n uint64, _ []byte) bool { return n > last })
	w.last = last
	w.first = min(w.first, last+1)
}

// LoseMarks makes the file of marks empty, FlipMarks alters one bit of it.
func (d *Disk) LoseMarks() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.file, d.safe = nil, nil
}

func (d *Disk) FlipMarks(bit int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.file[bit/8%len(d.file)] ^= 1 << (bit % 8)
}

// memory is a disk as one process has it open.
type memory struct {
	disk *Disk
	life int
}

// open returns the row with the disk locked, or an error and the disk unlocked.
func (m *memory) open(ctx context.Context, r oplog.Row) (*row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.disk.mu.Lock()
	if m.life != m.disk.life {
		m.disk.mu.Unlock()
		return nil, errClosed
	}
	return m.disk.rows[r], nil
}

func (m *memory) Bounds(ctx context.Context, r oplog.Row) (first, last uint64, err error) {
	w, err := m.open(ctx, r)
	if err != nil {
		return 0, 0, err
	}
	defer m.disk.mu.Unlock()
	return w.first, w.last, nil
}

func (m *memory) Append(ctx context.Context, r oplog.Row, number uint64, message []byte) error {
	w, err := m.open(ctx, r)
	if err != nil {
		return err
	}
	defer m.disk.mu.Unlock()
	if number != w.last+1 {
		return fmt.Errorf("%w: %d after %d", oplog.ErrNumber, number, w.last)
	}
	w.last = number
	w.messages[number] = bytes.Clone(message)
	return nil
}

func (m *memory) Get(ctx context.Context, r oplog.Row, number uint64) ([]byte, error) {
	w, err := m.open(ctx, r)
	if err != nil {
		return nil, err
	}
	defer m.disk.mu.Unlock()
	message, ok := w.messages[number]
	if !ok {
		return nil, oplog.ErrNotFound
	}
	return bytes.Clone(message), nil
}

func (m *memory) Scan(ctx context.Context, r oplog.Row, from, to uint64, each func(uint64, []byte) error) error {
	return m.Numbers(ctx, r, func(number uint64) error {
		if number < from || number > to {
			return nil
		}
		message, err := m.Get(ctx, r, number)
		if errors.Is(err, oplog.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return each(number, message)
	})
}

func (m *memory) Numbers(ctx context.Context, r oplog.Row, each func(uint64) error) error {
	w, err := m.open(ctx, r)
	if err != nil {
		return err
	}
	numbers := slices.Sorted(maps.Keys(w.messages))
	m.disk.mu.Unlock()
	for _, n := range numbers {
		if err := each(n); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) Purge(ctx context.Context, r oplog.Row, before uint64) error {
	w, err := m.open(ctx, r)
	if err != nil {
		return err
	}
	defer m.disk.mu.Unlock()
	maps.DeleteFunc(w.messages, func(n uint64, _ []byte) bool { return n < before })
	w.first = max(w.first, before)
	w.last = max(w.last, before-1)
	return nil
}

func (m *memory) Remove(ctx context.Context, r oplog.Row, numbers []uint64) error {
	w, err := m.open(ctx, r)
	if err != nil {
		return err
	}
	defer m.disk.mu.Unlock()
	for _, n := range numbers {
		delete(w.messages, n)
	}
	for ; w.first <= w.last && w.messages[w.first] == nil; w.first++ {
	}
	return nil
}

func (m *memory) ForgetEnd(r oplog.Row, last uint64) { m.disk.ForgetEnd(r, last) }

func (m *memory) Marks() oplog.Marks { return marks{m} }
func (m *memory) Torn() string       { return "" }
func (m *memory) Health() error      { return nil }

func (m *memory) Bytes() uint64 {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	sum := len(m.disk.file)
	for _, w := range m.disk.rows {
		for _, message := range w.messages {
			sum += len(message)
		}
	}
	return uint64(sum)
}

func (m *memory) Close() error {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	if m.life == m.disk.life {
		m.disk.life++
	}
	return nil
}

// marks is the file of marks.
type marks struct{ *memory }

func (m marks) ReadAt(b []byte, at int64) (int, error) {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	if at >= int64(len(m.disk.file)) {
		return 0, io.EOF
	}
	n := copy(b, m.disk.file[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (m marks) WriteAt(b []byte, at int64) (int, error) {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	if m.life != m.disk.life {
		return 0, errClosed
	}
	if end := int(at) + len(b); end > len(m.disk.file) {
		m.disk.file = append(m.disk.file, make([]byte, end-len(m.disk.file))...)
	}
	return copy(m.disk.file[at:], b), nil
}

func (m marks) Sync() error {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	if m.life != m.disk.life {
		return errClosed
	}
	m.disk.safe = bytes.Clone(m.disk.file)
	return nil
}
