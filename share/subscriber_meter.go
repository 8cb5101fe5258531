package share

import (
	"context"
	"fmt"
	"io"
	"math"
	"sync/atomic"
	"time"
)

// meter is a source that counts the bytes that are received, and limits them per second.
type meter struct {
	Source
	received atomic.Uint64
	limit    uint64 // bytes per second; 0 means no limit
	now      func() time.Time
	begun    time.Time // when the first version had been received; zero before
	start    uint64    // bytes that had been received then
}

// count counts a record.
func (m *meter) count(record []byte) { m.received.Add(uint64(len(record))) }

// Object counts the bytes of an object as they are read.
func (m *meter) Object(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	body, err := m.Source.Object(ctx, name, offset)
	if err != nil {
		return nil, err
	}
	return meteredBody{body, &m.received}, nil
}

type meteredBody struct {
	io.ReadCloser
	received *atomic.Uint64
}

func (b meteredBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.received.Add(uint64(n))
	return n, err
}

// begin begins the time over which bytes are averaged, once.
func (m *meter) begin() {
	if m.begun.IsZero() {
		m.begun, m.start = m.now(), m.received.Load()
	}
}

// allowance returns the bytes that may be received now. It is negative if too many were.
func (m *meter) allowance() float64 {
	if m.limit == 0 || m.begun.IsZero() {
		return math.Inf(1)
	}
	now := m.now()
	if now.Before(m.begun) { // the clock was corrected
		m.begun, m.start = now, m.received.Load()
	}
	return float64(m.limit)*now.Sub(m.begun).Seconds() - float64(m.received.Load()-m.start)
}

// wait returns the time until bytes may be received.
func (m *meter) wait(bytes uint64) time.Duration {
	missing := float64(bytes) - m.allowance()
	if missing <= 0 {
		return 0
	}
	seconds := min(missing/float64(m.limit), maxSeconds)
	return time.Duration(math.Ceil(seconds * float64(time.Second)))
}

// afford returns an error wrapping ErrBudget unless bytes may be received now.
func (m *meter) afford(bytes uint64) error {
	if d := m.wait(bytes); d > 0 {
		return fmt.Errorf("%d bytes must wait for %v: %w", bytes, d.Round(time.Millisecond), ErrBudget)
	}
	return nil
}

// pace estimates the bytes per second that the deltas and heads of each class take: an average over about
// five minutes.
type pace struct {
	last    *Head
	classes map[uint64]float64
}

const paceMemory = 5 * time.Minute

// note takes a signed head of some bytes. Heads announce the deltas of all classes, so one whose version the
// subscriber cannot pay for counts, too.
func (p *pace) note(h *Head, bytes int) {
	last := p.last
	p.last = h
	if last == nil || last.Stream != h.Stream || h.Version < last.Version || !h.Time.After(last.Time) {
		return
	}
	elapsed := h.Time.Sub(last.Time).Seconds()
	versions := float64(h.Version - last.Version)
	weight := -math.Expm1(-elapsed / paceMemory.Seconds())
	old := p.classes
	p.classes = make(map[uint64]float64, len(h.Classes))
	for _, c := range h.Classes {
		delta := c.Delta
		if delta == 0 {
			delta = c.Snapshot
		}
		perSecond := (versions*float64(delta) + max(versions, 1)*float64(bytes)) / elapsed
		if before, ok := old[c.Fold]; ok {
			perSecond = before + weight*(perSecond-before)
		}
		p.classes[c.Fold] = perSecond
	}
}

// of returns the bytes per second of a class, and false if they are not known.
func (p *pace) of(fold uint64) (float64, bool) {
	if p == nil {
		return 0, false
	}
	perSecond, ok := p.classes[fold]
	return perSecond, ok
}
