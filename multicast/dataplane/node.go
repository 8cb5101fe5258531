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

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/multicast"
)

// Node forwards packets between its neighbors and its host. It is safe for concurrent
// use. It does not allocate memory per packet.
type Node struct {
	config  NodeConfig
	deliver func([]byte)
	longest int
	sockets []*socket
	byPort  []*socket              // by port
	ports   map[netip.AddrPort]int // by neighbor
	inboxes sync.Pool              // for packets of the host
	ended   chan struct{}          // closed when the node is closed

	mu       sync.Mutex // protects the fields below and the sockets' outboxes
	router   multicast.Router
	copies   []multicast.Copy
	dice     dice
	delay    delay
	counters Counters
	closed   bool
}

// Config returns the node's configuration, with the addresses of its sockets where the
// system chose port numbers.
func (n *Node) Config() NodeConfig {
	s := n.config
	s.Neighbors = slices.Clone(s.Neighbors)
	return s
}

// Run forwards packets until the context is done or the node is closed; it then closes
// the node and returns nil. It returns an error if a socket fails permanently. It must be
// called once.
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

// failures is the number of successive errors after which a socket is considered failed.
// On some systems receiving fails once if an earlier packet was sent to a closed port.
const failures = 100

// receive handles the packets of a socket until it is closed. If a socket fails, all are
// closed.
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
			return fmt.Errorf("node %q: %w", n.config.Name, err)
		}
	}
}

// Inject routes packets from the node's own host; when it returns, the copies are sent.
// Packets are not modified. If a packet is too long, it returns an error wrapping umbel.ErrLimit and routes none.
// After the end of Run, or Close, it returns an error wrapping [net.ErrClosed].
func (n *Node) Inject(packets ...[]byte) error {
	for _, p := range packets {
		if len(p) > n.longest {
			return sentinel.Errorf(umbel.ErrLimit, "a packet of %d bytes, want at most %d; shorten it or raise Options.MaxPacket", len(p), n.longest)
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
			return fmt.Errorf("node %q: %w", n.config.Name, net.ErrClosed)
		}
	}
	return nil
}

// With calls f with the node's router while nothing is routed, so that f may modify it. f
// must not call methods of the node.
func (n *Node) With(f func(multicast.Router)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f(n.router)
}

// Counters returns the current counters.
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

// kernelDrops returns the sum over the sockets, or 0 if the system doesn't count drops.
func (n *Node) kernelDrops() (sum uint64) {
	for _, s := range n.sockets {
		if drops, err := kernelDrops(s.conn); err == nil {
			sum += drops
		}
	}
	return sum
}

// Close closes the node's sockets and ends Run. The counters remain readable.
func (n *Node) Close() {
	// The holder of the lock may be waiting for room in a socket's buffer, so unblock it
	// first.
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

// Counters are numbers of packets at a node.
type Counters struct {
	Injected   uint64 // from the node's own host
	Received   uint64 // from neighbors
	Sent       uint64 // to neighbors
	Delivered  uint64 // to the node's own host
	Unknown    uint64 // dropped: from an address that is not a neighbor's
	TooLong    uint64 // dropped: longer than Options.MaxPacket
	Faults     uint64 // dropped because of Options.Fault
	SendErrors uint64 // copies that the system refused to send, or for a port that doesn't exist
	// KernelDrops is the number of packets that arrived when the sockets were full. It is
	// counted on Linux only.
	KernelDrops uint64
	Drops       [multicast.Reasons]uint64 // dropped by the router, by reason
	Ports       []PortCounters            // by port; nil in sums over nodes
}

// PortCounters are the packets on one link, as counted by one of its nodes.
type PortCounters struct{ Received, Sent uint64 }

// add adds d to c, except for the ports.
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
