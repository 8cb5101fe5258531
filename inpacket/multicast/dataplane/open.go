package dataplane

import (
	"fmt"
	"net"
	"net/netip"
	"slices"

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
	if err = n.openSockets(main, buffer); err != nil {
		return nil, err
	}
	return n, nil
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
