package dataplane

import (
	"net/netip"
	"time"

	"github.com/umbel-filters/umbel/multicast"
)

// handle routes the packets of an inbox from socket s, or from the host if s is nil,
// sends the copies and delivers. If the node is closed it does nothing and returns false.
func (n *Node) handle(in *inbox, s *socket) bool {
	if !n.forward(in, s) {
		return false
	}
	if n.deliver == nil {
		return true
	}
	for i := range in.count {
		if in.deliver[i] {
			n.deliver(in.packet(i))
		}
	}
	return true
}

// forward is handle without the deliveries, which it marks.
func (n *Node) forward(in *inbox, s *socket) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return false
	}
	for i := range in.count {
		in.deliver[i] = false
		port, ok := n.ingress(in, i, s)
		if !ok {
			continue
		}
		var v multicast.Verdict
		n.copies, v = n.router.Route(n.copies[:0], in.packet(i), port)
		if v.Drop != multicast.None && v.Drop < multicast.Reasons {
			n.counters.Drops[v.Drop]++
		}
		if v.Deliver {
			n.counters.Delivered++
			in.deliver[i] = true
		}
		for _, c := range n.copies {
			n.send(c)
		}
	}
	n.flushAll()
	return true
}

// ingress counts packet i and returns the port on which it arrived, or false if it is to
// be dropped.
func (n *Node) ingress(in *inbox, i int, s *socket) (port int, ok bool) {
	if in.size[i] > n.longest {
		n.counters.TooLong++
		return 0, false
	}
	if s == nil || s.host {
		n.counters.Injected++
		return multicast.Host, true
	}
	port, ok = n.ports[in.from[i]]
	if !ok || n.byPort[port] != s {
		n.counters.Unknown++
		return 0, false
	}
	n.counters.Received++
	n.counters.Ports[port].Received++
	return port, true
}

// send adds a copy to the outbox of its port's socket, or to the delay queue, unless a
// fault drops it. It copies the packet, because the router may reuse its memory for the
// next one.
func (n *Node) send(c multicast.Copy) {
	switch {
	case c.Port < 0 || c.Port >= len(n.byPort):
		n.counters.SendErrors++
	case len(c.Packet) > n.longest:
		n.counters.TooLong++
	case n.dice.lose():
		n.counters.Faults++
	case n.delay.time == 0:
		n.queue(c.Port, c.Packet)
	case !n.delay.put(c.Port, c.Packet, time.Now()):
		n.counters.Faults++
	}
}

// queue adds a packet to the outbox of its port's socket.
func (n *Node) queue(port int, packet []byte) {
	s := n.byPort[port]
	if s.out.full() {
		n.flush(s)
	}
	s.out.add(port, packet)
}

// flushAll sends the packets of all outboxes.
func (n *Node) flushAll() {
	for _, s := range n.sockets {
		n.flush(s)
	}
}

// flush sends the packets of a socket's outbox.
func (n *Node) flush(s *socket) {
	o := s.out
	for o.first < o.count {
		sent, err := s.write(o)
		for _, port := range o.port[o.first : o.first+sent] {
			n.counters.Sent++
			n.counters.Ports[port].Sent++
		}
		o.first += sent
		switch {
		case err == nil:
		case over(err):
			n.counters.SendErrors += uint64(o.count - o.first)
			o.first = o.count
		default:
			n.counters.SendErrors++
			o.first++
		}
	}
	o.clear()
}

// burst is the number of packets received or sent by one system call.
const burst = 64

// inbox has memory for arriving packets.
type inbox struct {
	room    int // bytes per packet: one more than the longest packet, so that longer ones are detected
	memory  []byte
	count   int
	size    [burst]int
	from    [burst]netip.AddrPort
	deliver [burst]bool
}

func newInbox(longest int) *inbox {
	// Slots have an odd number of cache lines, so that the beginnings of packets are
	// spread over the cache.
	room := (longest/64 | 1) * 64
	if room <= longest {
		room += 128
	}
	return &inbox{room: room, memory: make([]byte, burst*room)}
}

// slot returns the memory of packet i.
func (b *inbox) slot(i int) []byte { return b.memory[i*b.room : (i+1)*b.room : (i+1)*b.room] }

// packet returns packet i.
func (b *inbox) packet(i int) []byte { return b.slot(i)[:b.size[i]] }

// outbox collects packets to be sent by one socket.
type outbox struct {
	memory []byte
	first  int // packets before it are sent
	count  int
	end    [burst]int // end of packet i in memory; it begins at the end of the one before
	port   [burst]int
}

func newOutbox(longest int) *outbox {
	return &outbox{memory: make([]byte, 0, burst*longest)}
}

func (o *outbox) full() bool { return o.count == burst }

// add adds a copy of a packet that is not longer than the longest; the box must not be
// full.
func (o *outbox) add(port int, packet []byte) {
	o.memory = append(o.memory, packet...)
	o.end[o.count], o.port[o.count] = len(o.memory), port
	o.count++
}

func (o *outbox) packet(i int) []byte {
	begin := 0
	if i > 0 {
		begin = o.end[i-1]
	}
	return o.memory[begin:o.end[i]]
}

func (o *outbox) clear() { o.memory, o.first, o.count = o.memory[:0], 0, 0 }
