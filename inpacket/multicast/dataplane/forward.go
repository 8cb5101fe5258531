package dataplane

import (
	"net/netip"
	"time"

	"github.com/umbel-filters/umbel/inpacket/multicast"
)

// handle routes the packets that came in by a socket, or from the host if it is nil,
// sends the copies and delivers. It does nothing, and says so, if the node is closed.
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

// ingress counts packet i and returns the port that it came in on, or that it is to be
// dropped.
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
	if !ok || n.way[port] != s {
		n.counters.Unknown++
		return 0, false
	}
	n.counters.Received++
	n.counters.Ports[port].Received++
	return port, true
}

// send puts a copy into the outbox of its way, or lets it wait, unless there is a
// fault. It copies the packet, which the router may use again for the next.
func (n *Node) send(c multicast.Copy) {
	switch {
	case c.Port < 0 || c.Port >= len(n.way):
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

// queue puts a packet into the outbox of its way.
func (n *Node) queue(port int, packet []byte) {
	s := n.way[port]
	if s.out.full() {
		n.flush(s)
	}
	s.out.add(port, packet)
}

// flushAll sends what waits in all outboxes.
func (n *Node) flushAll() {
	for _, s := range n.sockets {
		n.flush(s)
	}
}

// flush sends what waits in a socket's outbox.
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

// burst is how many packets are received, or sent, in one system call.
const burst = 64

// inbox has room for packets on their way in.
type inbox struct {
	room    int // bytes for each: one more than the longest packet, to know longer ones
	memory  []byte
	count   int
	size    [burst]int
	from    [burst]netip.AddrPort
	deliver [burst]bool
}

func newInbox(longest int) *inbox {
	// Slots begin at multiples of a cache line, as many as makes an odd number, so that
	// the beginnings of packets spread over the cache.
	room := (longest/64 | 1) * 64
	if room <= longest {
		room += 128
	}
	return &inbox{room: room, memory: make([]byte, burst*room)}
}

// slot returns the room of packet i.
func (b *inbox) slot(i int) []byte { return b.memory[i*b.room : (i+1)*b.room : (i+1)*b.room] }

// packet returns packet i.
func (b *inbox) packet(i int) []byte { return b.slot(i)[:b.size[i]] }

// outbox collects packets on their way out of one socket.
type outbox struct {
	memory []byte
	first  int // those before it are sent
	count  int
	end    [burst]int // of packet i, in memory; it begins where the one before ends
	port   [burst]int
}

func newOutbox(longest int) *outbox {
	return &outbox{memory: make([]byte, 0, burst*longest)}
}

func (o *outbox) full() bool { return o.count == burst }

// add copies a packet, not longer than the longest; the box isn't full.
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
