package dataplane

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// mostLate is the largest number of waiting copies.
const mostLate = 1 << 14

// late is a copy that waits to be sent.
type late struct {
	due    time.Time
	port   int
	packet []byte
}

// delay is a queue of copies until they are due. All wait for the same time, so they
// leave in the order of arrival. The memory of copies is reused.
type delay struct {
	time  time.Duration // 0: no delay
	queue []late        // a ring
	first int
	count int
	more  chan struct{} // signals the first copy of an empty queue
}

func newDelay(d time.Duration) delay { return delay{time: d, more: make(chan struct{}, 1)} }

// put adds a copy of a packet, and reports whether there was room.
func (d *delay) put(port int, packet []byte, now time.Time) bool {
	if d.count == len(d.queue) && !d.grow() {
		return false
	}
	l := &d.queue[(d.first+d.count)%len(d.queue)]
	l.due, l.port, l.packet = now.Add(d.time), port, append(l.packet[:0], packet...)
	if d.count++; d.count == 1 {
		select {
		case d.more <- struct{}{}:
		default:
		}
	}
	return true
}

// grow doubles the size of the full ring.
func (d *delay) grow() bool {
	if len(d.queue) == mostLate {
		return false
	}
	queue := make([]late, max(64, 2*len(d.queue)))
	n := copy(queue, d.queue[d.first:])
	copy(queue[n:], d.queue[:d.first])
	d.queue, d.first = queue, 0
	return true
}

// take returns the next copy if it is due; it is valid until the next put. Otherwise it
// returns nil and the time until the next copy is due, or 0 if there is none.
func (d *delay) take(now time.Time) (*late, time.Duration) {
	if d.count == 0 {
		return nil, 0
	}
	l := &d.queue[d.first]
	if wait := l.due.Sub(now); wait > 0 {
		return nil, wait
	}
	d.first = (d.first + 1) % len(d.queue)
	d.count--
	return l, 0
}

// release sends delayed copies when they are due, until the node is closed.
func (n *Node) release() {
	for {
		wait, open := n.releaseDue()
		if !open {
			return
		}
		var due <-chan time.Time
		if wait > 0 {
			due = time.After(wait)
		}
		select {
		case <-due:
		case <-n.delay.more:
		case <-n.ended:
			return
		}
	}
}

// releaseDue sends the copies that are due. It returns the time until the next one is
// due, or 0 if there is none, and whether the node is open.
func (n *Node) releaseDue() (time.Duration, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for !n.closed {
		l, wait := n.delay.take(time.Now())
		if l == nil {
			n.flushAll()
			return wait, true
		}
		n.queue(l.port, l.packet)
	}
	return 0, false
}

// Fault is a set of deliberate faults of a node, for tests.
type Fault struct {
	// Loss is the probability that a copy is dropped instead of sent, from 0 to 1.
	Loss float64
	// Seed and the node's name determine which copies of a sequence are lost.
	Seed uint64
	// Delay is the time for which copies wait before they are sent. A node queues up to
	// 16 384 copies and drops further ones.
	Delay time.Duration
}

// dice decides which copies are lost.
type dice struct {
	limit  uint64
	random *rand.PCG
}

func newDice(f Fault, name string) (dice, error) {
	if !(f.Loss >= 0 && f.Loss <= 1) || f.Delay < 0 {
		return dice{}, sentinel.Errorf(umbel.ErrGoal, "loss %v and delay %v, want a probability from 0 to 1 and a time of at least 0", f.Loss, f.Delay)
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	return dice{uint64(math.Ldexp(f.Loss, 53)), rand.NewPCG(f.Seed, h.Sum64())}, nil
}

func (d *dice) lose() bool { return d.limit != 0 && d.random.Uint64()>>11 < d.limit }
