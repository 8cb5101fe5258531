package dataplane

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Pace is the speed at which packets are sent. The zero value means no limit.
type Pace struct {
	// Rate is the largest number of packets per second; 0 means no limit.
	Rate float64
	// Window is the largest number of packets in flight; 0 means no limit. Deliveries end
	// the flight of packets; each packet is delivered Receivers times.
	Window    int
	Receivers int
	// Patience is the time to wait, with the window full, for one more delivery. After
	// it, everything in flight is considered lost. Default 1 s.
	Patience time.Duration
}

// Pacer limits the pace of packets. Wait and Drain must be called by one goroutine; the
// other methods are safe for concurrent use.
type Pacer struct {
	pace    Pace
	next    time.Time     // when the rate allows the next packet
	onWay   atomic.Int64  // outstanding deliveries
	wanted  atomic.Int64  // the number of outstanding deliveries for which Wait waits; negative if it doesn't wait
	fewer   chan struct{} // signals that the number is reached
	lost    atomic.Int64
	allowed int64 // outstanding deliveries of a full window
	timer   *time.Timer
}

// backlog is how far sending may fall behind the rate and then catch up: the time by
// which a sleep may be too long.
const backlog = 20 * time.Millisecond

// longTime is a century in nanoseconds; later times don't matter.
const longTime = 100 * 365 * 24 * 3600 * 1e9

// NewPacer returns a pacer. It returns an error wrapping umbel.ErrGoal if a number is negative or if there is a
// window without receivers.
func NewPacer(p Pace) (*Pacer, error) {
	if !(p.Rate >= 0) || p.Window < 0 || p.Receivers < 0 || p.Patience < 0 {
		return nil, sentinel.Errorf(umbel.ErrGoal, "pace %v, want numbers of at least 0", p)
	}
	if p.Window > 0 && p.Receivers == 0 {
		return nil, sentinel.Errorf(umbel.ErrGoal, "a window of %d packets needs the number of receivers", p.Window)
	}
	if p.Patience == 0 {
		p.Patience = time.Second
	}
	q := &Pacer{pace: p, fewer: make(chan struct{}, 1), allowed: int64(p.Window) * int64(p.Receivers)}
	q.wanted.Store(-1)
	return q, nil
}

// Wait returns when n more packets may be sent, and counts them as sent. It returns the
// context's error if the context is done first. If the window is smaller than n, it waits
// until no packet is in flight.
func (p *Pacer) Wait(ctx context.Context, n int) error {
	if p.pace.Window > 0 {
		if err := p.await(ctx, max(0, p.allowed-p.deliveries(n))); err != nil {
			return err
		}
	}
	if err := p.sleep(ctx, n); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.pace.Window > 0 {
		if late := p.onWay.Load(); late < 0 { // of packets that were considered lost
			p.onWay.CompareAndSwap(late, 0)
		}
		p.onWay.Add(p.deliveries(n))
	}
	return nil
}

func (p *Pacer) deliveries(n int) int64 { return int64(n) * int64(p.pace.Receivers) }

// sleep waits until the rate allows n more packets.
func (p *Pacer) sleep(ctx context.Context, n int) error {
	if p.pace.Rate == 0 {
		return nil
	}
	now := time.Now()
	if behind := now.Add(-backlog); p.next.Before(behind) {
		if p.next.IsZero() {
			behind = now
		}
		p.next = behind
	}
	wait := p.next.Sub(now)
	p.next = p.next.Add(time.Duration(min(float64(n)/p.pace.Rate*float64(time.Second), longTime)))
	if wait <= 0 {
		return nil
	}
	t := p.alarm(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// alarm returns the pacer's timer, set to d.
func (p *Pacer) alarm(d time.Duration) *time.Timer {
	if p.timer == nil {
		p.timer = time.NewTimer(d)
	} else {
		p.timer.Reset(d)
	}
	return p.timer
}

// await waits until at most most deliveries are outstanding, or none has arrived for too
// long.
func (p *Pacer) await(ctx context.Context, most int64) error {
	if p.onWay.Load() <= most {
		return nil
	}
	p.wanted.Store(most)
	defer p.wanted.Store(-1)
	t := p.alarm(p.pace.Patience)
	defer t.Stop()
	for last := p.onWay.Load(); p.onWay.Load() > most; {
		select {
		case <-p.fewer:
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
			left := p.onWay.Load()
			if left == last {
				p.lost.Add(left)
				p.onWay.Add(-left)
				return nil
			}
			last = left
			t.Reset(p.pace.Patience)
		}
	}
	return nil
}

// Delivered records one delivery.
func (p *Pacer) Delivered() {
	left, wanted := p.onWay.Add(-1), p.wanted.Load()
	if wanted < 0 || left > wanted {
		return
	}
	select {
	case p.fewer <- struct{}{}:
	default: // already signalled
	}
}

// Drain waits until no packet is in flight: all are delivered or considered lost. Without
// a window it returns at once.
func (p *Pacer) Drain(ctx context.Context) error {
	if p.pace.Window == 0 {
		return nil
	}
	return p.await(ctx, 0)
}

// Lost returns the number of deliveries that were considered lost.
func (p *Pacer) Lost() int64 { return p.lost.Load() }

// atOnce returns a suitable number of packets to send together: half a window, or what
// the rate allows in a millisecond.
func (p *Pacer) atOnce() int {
	n := burst
	if p.pace.Window > 0 {
		n = min(n, (p.pace.Window+1)/2)
	}
	if p.pace.Rate > 0 {
		n = int(min(float64(n), 1+p.pace.Rate/1000))
	}
	return n
}

// Send injects packets at a node, at a pace. packet(i) returns packet i, from 0, and must
// stay unchanged until 64 more have been requested. A nil pacer means no limit. Send
// returns when the last packet is sent; see [Pacer.Drain] for its arrival.
func (n *Node) Send(ctx context.Context, p *Pacer, packets int, packet func(i int) []byte) error {
	if p == nil {
		p = &Pacer{}
	}
	group := make([][]byte, 0, p.atOnce())
	for i := 0; i < packets; {
		group = group[:0]
		for len(group) < cap(group) && i < packets {
			group = append(group, packet(i))
			i++
		}
		if err := p.Wait(ctx, len(group)); err != nil {
			return err
		}
		if err := n.Inject(group...); err != nil {
			return err
		}
	}
	return nil
}
