package dataplane

import "time"

// mostLate is how many copies wait at most.
const mostLate = 1 << 14

// late is a copy that waits to be sent.
type late struct {
	due    time.Time
	port   int
	packet []byte
}

// delay keeps copies until they are due, in the order in which they came: all wait for
// equally long. It uses the memory of those that went for those that come.
type delay struct {
	time  time.Duration // 0: none waits
	queue []late        // a ring
	first int
	count int
	more  chan struct{} // says that one came when there was none
}

func newDelay(d time.Duration) delay { return delay{time: d, more: make(chan struct{}, 1)} }

// put keeps a copy of a packet, and reports whether there was room.
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

// grow makes the full ring twice as long, from its first on.
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

// take returns the next copy if it is due, until the next put, or nil and how long it
// still has to wait; 0 if there is none.
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

// releaseDue sends the copies that are due and says how long the next has to wait, 0 if
// there is none, and whether the node is open.
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
