package oplogtest

import (
	"context"
	"fmt"
	"io"
	"sync"
	"syscall"

	"github.com/umbel-filters/umbel/cmd/internal/oplog"
)

// Op is what is asked of a medium.
type Op string

const (
	Append Op = "append"
	Get    Op = "get"
	Scan   Op = "scan"
	Purge  Op = "purge"
	Remove Op = "remove"
)

// Faults are what goes wrong on a medium. Zero or more at a time, over its ends and new
// beginnings. Its methods may be called concurrently.
type Faults struct {
	mu     sync.Mutex
	before func(ctx context.Context, op Op, r oplog.Row, number uint64) error
	fail   int
	kept   bool
	why    error
	full   bool
	bits   map[place][]int
	gone   map[place]bool
	torn   map[place]bool
	others map[place][]byte
	noFile bool
}

type place struct {
	row    oplog.Row
	number uint64
}

// NewFaults returns none.
func NewFaults() *Faults {
	return &Faults{bits: map[place][]int{}, gone: map[place]bool{}, torn: map[place]bool{}, others: map[place][]byte{}}
}

// Before has hook called before everything that is asked, for Scan and Purge with the
// number they begin with. It may wait; its error is the answer. nil ends that.
func (f *Faults) Before(hook func(ctx context.Context, op Op, r oplog.Row, number uint64) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before = hook
}

// FailAppends lets the next n Appends to any row fail with that error: before the message is
// kept, or after.
func (f *Faults) FailAppends(n int, kept bool, why error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail, f.kept, f.why = n, kept, why
}

// Fill makes the disk full, or no longer full: nothing is appended then.
func (f *Faults) Fill(full bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.full = full
}

// Flip alters one bit of a message: bit modulo the number of its bits.
func (f *Faults) Flip(r oplog.Row, number uint64, bit int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bits[place{r, number}] = append(f.bits[place{r, number}], bit)
}

// Lose makes messages vanish, without a word and with their numbers used.
func (f *Faults) Lose(r oplog.Row, numbers ...uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range numbers {
		f.gone[place{r, n}] = true
	}
}

// Tear leaves of a message only its first half.
func (f *Faults) Tear(r oplog.Row, number uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.torn[place{r, number}] = true
}

// Replace puts another message in the place of one.
func (f *Faults) Replace(r oplog.Row, number uint64, message []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.others[place{r, number}] = message
}

// NoMarks hides the file of marks from who reads it, or shows it again.
func (f *Faults) NoMarks(hide bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.noFile = hide
}

// Over returns the medium with these faults.
func (f *Faults) Over(m oplog.Medium) oplog.Medium { return &faulty{m, f} }

type faulty struct {
	oplog.Medium
	faults *Faults
}

func (m *faulty) ask(ctx context.Context, op Op, r oplog.Row, number uint64) error {
	m.faults.mu.Lock()
	before := m.faults.before
	m.faults.mu.Unlock()
	if before == nil {
		return nil
	}
	return before(ctx, op, r, number)
}

// asFound returns a message as the faults let it be found.
func (f *Faults) asFound(r oplog.Row, number uint64, message []byte) ([]byte, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := place{r, number}
	if f.gone[at] {
		return nil, false
	}
	if other, ok := f.others[at]; ok {
		message = other
	}
	if f.torn[at] {
		message = message[:len(message)/2]
	}
	if bits := f.bits[at]; len(bits) > 0 {
		message = append([]byte(nil), message...)
		for _, bit := range bits {
			message[bit/8%len(message)] ^= 1 << (bit % 8)
		}
	}
	return message, true
}

func (m *faulty) Append(ctx context.Context, r oplog.Row, number uint64, message []byte) error {
	if err := m.ask(ctx, Append, r, number); err != nil {
		return err
	}
	m.faults.mu.Lock()
	var fails error
	if m.faults.full {
		fails = fmt.Errorf("write: %w", syscall.ENOSPC)
	} else if m.faults.fail > 0 {
		m.faults.fail--
		fails = m.faults.why
	}
	keep := fails == nil || !m.faults.full && m.faults.kept
	m.faults.mu.Unlock()
	if keep {
		if err := m.Medium.Append(ctx, r, number, message); err != nil {
			return err
		}
	}
	return fails
}

func (m *faulty) Get(ctx context.Context, r oplog.Row, number uint64) ([]byte, error) {
	if err := m.ask(ctx, Get, r, number); err != nil {
		return nil, err
	}
	message, err := m.Medium.Get(ctx, r, number)
	if err != nil {
		return nil, err
	}
	message, ok := m.faults.asFound(r, number, message)
	if !ok {
		return nil, oplog.ErrNotFound
	}
	return message, nil
}

func (m *faulty) Scan(ctx context.Context, r oplog.Row, from, to uint64, each func(uint64, []byte) error) error {
	if err := m.ask(ctx, Scan, r, from); err != nil {
		return err
	}
	return m.Medium.Scan(ctx, r, from, to, func(number uint64, message []byte) error {
		message, ok := m.faults.asFound(r, number, message)
		if !ok {
			return nil
		}
		return each(number, message)
	})
}

func (m *faulty) Numbers(ctx context.Context, r oplog.Row, each func(uint64) error) error {
	return m.Medium.Numbers(ctx, r, func(number uint64) error {
		if _, ok := m.faults.asFound(r, number, []byte{0}); !ok {
			return nil
		}
		return each(number)
	})
}

func (m *faulty) Purge(ctx context.Context, r oplog.Row, before uint64) error {
	if err := m.ask(ctx, Purge, r, before); err != nil {
		return err
	}
	return m.Medium.Purge(ctx, r, before)
}

func (m *faulty) Remove(ctx context.Context, r oplog.Row, numbers []uint64) error {
	if len(numbers) > 0 {
		if err := m.ask(ctx, Remove, r, numbers[0]); err != nil {
			return err
		}
	}
	return m.Medium.Remove(ctx, r, numbers)
}

func (m *faulty) Health() error {
	m.faults.mu.Lock()
	full := m.faults.full
	m.faults.mu.Unlock()
	if full {
		return fmt.Errorf("write: %w", syscall.ENOSPC)
	}
	return m.Medium.Health()
}

func (m *faulty) Marks() oplog.Marks { return hidden{m.Medium.Marks(), m.faults} }

type hidden struct {
	oplog.Marks
	faults *Faults
}

func (h hidden) ReadAt(b []byte, at int64) (int, error) {
	h.faults.mu.Lock()
	defer h.faults.mu.Unlock()
	if h.faults.noFile {
		return 0, io.EOF
	}
	return h.Marks.ReadAt(b, at)
}
