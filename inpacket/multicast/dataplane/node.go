package dataplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/inpacket/multicast"
)

// Node forwards packets between its neighbours and its host. Its methods may be called
// by any number of goroutines. It allocates nothing for a packet.
type Node struct {
	site    Site
	deliver func([]byte)
	longest int
	sockets []*socket
	way     []*socket              // by port
	ports   map[netip.AddrPort]int // by neighbour
	inboxes sync.Pool              // for packets of the host
	ended   chan struct{}          // closed when the node is

	mu       sync.Mutex // of what follows, and of the sockets' outboxes
	router   multicast.Router
	copies   []multicast.Copy
	dice     dice
	delay    delay
	counters Counters
	closed   bool
}

// Site returns what the node is, with the addresses of its sockets as they are where
// the system chose port numbers.
func (n *Node) Site() Site {
	s := n.site
	s.Neighbors = slices.Clone(s.Neighbors)
	return s
}

// Run forwards packets until the context is done or the node is closed, and then
// closes it and returns nil; or until a socket fails for good. Call it once.
func (n *Node) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, n.Close)
	defer stop()
	errs := make([]error, len(n.sockets))
	var readers sync.WaitGroup
	for i, s := range n.sockets[1:] {
		readers.Go(func() { errs[i+1] = n.receive(s) })
	}
	if n.delay.time > 0 {
		readers.Go(n.release)
	}
	errs[0] = n.receive(n.sockets[0])
	readers.Wait()
	return errors.Join(errs...)
}

// failures is how many times in a row a socket may fail: some systems let a socket that
// receives fail once for a packet sent before that met nobody.
const failures = 100

// receive handles what comes to a socket, until it is closed. When a socket fails, all
// are closed.
func (n *Node) receive(s *socket) error {
	defer n.Close()
	for inRow := 0; ; {
		err := s.read(s.in)
		if err == nil {
			inRow = 0
			n.handle(s.in, s)
			continue
		}
		if over(err) {
			return nil
		}
		if inRow++; inRow == failures {
			return fmt.Errorf("dataplane: node %q: %w", n.site.Name, err)
		}
	}
}

// Inject takes packets from the node's own host: it routes them, and has sent the
// copies when it returns. Packets aren't changed. A packet that is too long is an
// error, and none is taken then. After the end of Run, or Close, it is
// [net.ErrClosed].
func (n *Node) Inject(packets ...[]byte) error {
	for _, p := range packets {
		if len(p) > n.longest {
			return fmt.Errorf("dataplane: a packet of %d bytes: they have up to %d: shorten it, or raise Options.MaxPacket", len(p), n.longest)
		}
	}
	in := n.inboxes.Get().(*inbox)
	defer n.inboxes.Put(in)
	for len(packets) > 0 {
		in.count = min(burst, len(packets))
		for i, p := range packets[:in.count] {
			in.size[i] = copy(in.slot(i), p)
		}
		packets = packets[in.count:]
		if !n.handle(in, nil) {
			return fmt.Errorf("dataplane: node %q: %w", n.site.Name, net.ErrClosed)
		}
	}
	return nil
}

// With calls f with the node's router while nothing is routed, so that f may change
// it. Don't call the node in f.
func (n *Node) With(f func(multicast.Router)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f(n.router)
}

// Counters returns what the node has counted so far.
func (n *Node) Counters() Counters {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := n.counters
	if !n.closed {
		c.KernelDrops = n.kernelDrops()
	}
	c.Ports = slices.Clone(c.Ports)
	return c
}

// kernelDrops sums over the sockets. Where the system doesn't say it is zero.
func (n *Node) kernelDrops() (sum uint64) {
	for _, s := range n.sockets {
		if drops, err := kernelDrops(s.conn); err == nil {
			sum += drops
		}
	}
	return sum
}

// Close closes the node's sockets and ends Run. Counters stay.
func (n *Node) Close() {
	// Whoever holds the lock may wait for room in a socket's buffer: end that first.
	for _, s := range n.sockets {
		s.conn.SetDeadline(time.Unix(1, 0))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	n.closed = true
	close(n.ended)
	n.counters.KernelDrops = n.kernelDrops()
	for _, s := range n.sockets {
		s.conn.Close()
	}
}

// Counters are what a node has seen so far, in packets.
type Counters struct {
	Injected   uint64 // from the node's own host
	Received   uint64 // from neighbours
	Sent       uint64 // to neighbours
	Delivered  uint64 // to the node's own host
	Unknown    uint64 // dropped: from an address that is no neighbour's
	TooLong    uint64 // dropped: longer than Options.MaxPacket
	Faults     uint64 // dropped because Options.Fault says so
	SendErrors uint64 // copies that the system wouldn't send, or for a port that isn't there
	// KernelDrops is how many packets came when the sockets were full; always zero
	// where the system doesn't tell, which is everywhere but on Linux.
	KernelDrops uint64
	Drops       [multicast.Reasons]uint64 // what the router dropped, by reason
	Ports       []PortCounters            // by port; nil in sums over nodes
}

// PortCounters are what went over one link, as one of its nodes sees it.
type PortCounters struct{ Received, Sent uint64 }

// add adds d to c, but for the ports.
func (c *Counters) add(d *Counters) {
	c.Injected += d.Injected
	c.Received += d.Received
	c.Sent += d.Sent
	c.Delivered += d.Delivered
	c.Unknown += d.Unknown
	c.TooLong += d.TooLong
	c.Faults += d.Faults
	c.SendErrors += d.SendErrors
	c.KernelDrops += d.KernelDrops
	for i, n := range d.Drops {
		c.Drops[i] += n
	}
}
