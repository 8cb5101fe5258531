package dataplane

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Pace says how fast packets are sent; the zero value, as fast as they can be.
type Pace struct {
	// Rate is how many packets a second are sent at most; 0 means any number.
	Rate float64
	// Window is how many packets may be on their way; 0 means any number. They are
	// known by their deliveries, each packet coming to as many as Receivers says.
	Window    int
	Receivers int
	// Patience is how long to wait, with the window full, for one more delivery; after
	// it, all that is on its way is given up as lost. 0 means a second.
	Patience time.Duration
}

// Pacer lets packets go at a pace. Wait and Drain are for one goroutine, the rest for
// any.
type Pacer struct {
	pace    Pace
	next    time.Time     // when the rate lets the next packet go
	onWay   atomic.Int64  // deliveries that are to come
	wanted  atomic.Int64  // how few of those Wait waits for; below 0 when it doesn't wait
	fewer   chan struct{} // says that it is so
	lost    atomic.Int64
	allowed int64 // deliveries to come of a full window
	timer   *time.Timer
}

// backlog is how far the sending may be behind the rate and catch up: as long as a
// sleep may take too long.
const backlog = 20 * time.Millisecond

// longTime is a century in nanoseconds: what is later doesn't matter.
const longTime = 100 * 365 * 24 * 3600 * 1e9

// NewPacer returns a pacer. Numbers below zero are an error, and so is a window without
// receivers.
func NewPacer(p Pace) (*Pacer, error) {
	if !(p.Rate >= 0) || p.Window < 0 || p.Receivers < 0 || p.Patience < 0 {
		return nil, fmt.Errorf("dataplane: a pace of %v: give numbers from zero", p)
	}
	if p.Window > 0 && p.Receivers == 0 {
		return nil, fmt.Errorf("dataplane: a window of %d packets to no receiver: say how many receive each", p.Window)
	}
	if p.Patience == 0 {
		p.Patience = time.Second
	}
	q := &Pacer{pace: p, fewer: make(chan struct{}, 1), allowed: int64(p.Window) * int64(p.Receivers)}
	q.wanted.Store(-1)
	return q, nil
}

// Wait returns when n more packets may be sent, and counts them as sent; or with the
// context's error. If the window is smaller than n, it waits until none is on its way.
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
		if late := p.onWay.Load(); late < 0 { // of what was given up
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

// alarm returns the pacer's timer, set.
func (p *Pacer) alarm(d time.Duration) *time.Timer {
	if p.timer == nil {
		p.timer = time.NewTimer(d)
	} else {
		p.timer.Reset(d)
	}
	return p.timer
}

// await waits until not more than so many deliveries are to come, or none has come for
// too long.
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

// Delivered says that one more packet was delivered.
func (p *Pacer) Delivered() {
	left, wanted := p.onWay.Add(-1), p.wanted.Load()
	if wanted < 0 || left > wanted {
		return
	}
	select {
	case p.fewer <- struct{}{}:
	default: // it was said, and not yet heard
	}
}

// Drain waits until no packet is on its way: all are delivered, or given up as lost. It
// returns at once without a window.
func (p *Pacer) Drain(ctx context.Context) error {
	if p.pace.Window == 0 {
		return nil
	}
	return p.await(ctx, 0)
}

// Lost returns how many deliveries were given up: waited for, and not come in time.
func (p *Pacer) Lost() int64 { return p.lost.Load() }

// atOnce is how many packets may well be sent in one go: half a window, or what the rate
// gives in a millisecond.
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

// Send injects so many packets at a node, at a pace: packet(i) is the i-th, from 0, and
// must stay as it is until 64 more have been asked for. A nil pacer means as fast as can
// be. Send returns when the last packet is sent; see [Pacer.Drain] for when it has
// arrived.
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
