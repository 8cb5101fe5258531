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

// Options are the sizes and faults of nodes; zeros mean what is usual.
type Options struct {
	// MaxPacket is the length in bytes of the longest packet that is taken, with its
	// header, up to 65507; 0 means 1472, which Ethernet carries whole. A socket takes
	// memory for 128 of them.
	MaxPacket int
	// Buffer is the size in bytes of each socket's two buffers, of which the system
	// may give less; 0 means 4 MiB.
	Buffer int
	Fault  Fault
}

const (
	usualPacket   = 1500 - 20 - 8 // of an Ethernet frame, IPv4 and UDP headers taken off
	longestPacket = 65535 - 20 - 8
	usualBuffer   = 4 << 20
)

// Config is what a node is made of.
type Config struct {
	Site   Site
	Router multicast.Router // the node's alone
	// Deliver, if given, is called for each packet delivered here, with the packet as
	// the router left it, which is valid until it returns. It is called by the
	// goroutine that received the packet, which receives no other meanwhile, or
	// injected it: at most one per socket, and one per call of Inject, at a time.
	Deliver func(packet []byte)
	Options
}

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

// Open opens a node's sockets, in the network namespace of the calling thread. The
// node forwards nothing until Run is called.
func Open(c Config) (*Node, error) {
	if err := c.Site.Check(); err != nil {
		return nil, err
	}
	return open(c, nil)
}

// open opens a node whose main socket may be there already. It owns that one.
func open(c Config, main *net.UDPConn) (_ *Node, err error) {
	longest, buffer := c.MaxPacket, c.Buffer
	if longest == 0 {
		longest = usualPacket
	}
	if buffer == 0 {
		buffer = usualBuffer
	}
	n := &Node{
		site: c.Site, deliver: c.Deliver, router: c.Router, longest: longest,
		way:   make([]*socket, len(c.Site.Neighbors)),
		ports: make(map[netip.AddrPort]int, len(c.Site.Neighbors)),
		delay: newDelay(c.Fault.Delay), ended: make(chan struct{}),
	}
	n.site.Neighbors = slices.Clone(c.Site.Neighbors)
	n.inboxes.New = func() any { return newInbox(longest) }
	n.counters.Ports = make([]PortCounters, len(c.Site.Neighbors))
	defer func() {
		if err != nil {
			if main != nil {
				main.Close()
			}
			n.Close()
		}
	}()
	if c.Router == nil {
		return nil, fmt.Errorf("dataplane: node %q has no router: give one", c.Site.Name)
	}
	if longest < 1 || longest > longestPacket || buffer < 0 {
		return nil, fmt.Errorf("dataplane: packets of %d bytes and buffers of %d: datagrams have 1 to %d, buffers some", longest, buffer, longestPacket)
	}
	if n.dice, err = newDice(c.Fault, c.Site.Name); err != nil {
		return nil, err
	}
	return n, n.openSockets(main, buffer)
}

// openSockets opens the sockets of the site, the main one unless it is there, and
// writes into the site where they are.
func (n *Node) openSockets(main *net.UDPConn, buffer int) error {
	add := func(at *netip.AddrPort, conn *net.UDPConn) (*socket, error) {
		var err error
		if conn == nil {
			if conn, err = listen(*at, buffer); err != nil {
				return nil, err
			}
		}
		s, err := newSocket(conn, n.longest)
		if err != nil {
			conn.Close()
			return nil, err
		}
		*at = conn.LocalAddr().(*net.UDPAddr).AddrPort()
		n.sockets = append(n.sockets, s)
		return s, nil
	}
	var shared *socket
	var err error
	if n.site.shares() {
		if shared, err = add(&n.site.Listen, main); err != nil {
			return err
		}
	}
	addresses := make([]netip.AddrPort, len(n.way))
	for i := range n.site.Neighbors {
		p := &n.site.Neighbors[i]
		addresses[i] = plain(p.Address)
		n.ports[addresses[i]] = i
		n.way[i] = shared
		if p.Local.IsValid() {
			if n.way[i], err = add(&p.Local, nil); err != nil {
				return err
			}
		}
	}
	if n.site.Host.IsValid() {
		s, err := add(&n.site.Host, nil)
		if err != nil {
			return err
		}
		s.host = true
	}
	for _, s := range n.sockets {
		s.aim(addresses)
	}
	return nil
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
