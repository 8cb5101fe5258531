package dataplane

import (
	"net"
	"net/netip"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/multicast"
)

// Options are sizes and faults of nodes. Zeros are replaced by defaults.
type Options struct {
	// MaxPacket is the length in bytes of the longest packet, with its header, up to
	// 65507; default 1472, which fits in an Ethernet frame. A socket has memory for 128
	// packets.
	MaxPacket int
	// Buffer is the size in bytes of each socket's two buffers, which the system may
	// reduce; default 4 MiB.
	Buffer int
	Fault  Fault
}

const (
	usualPacket   = 1500 - 20 - 8 // an Ethernet frame without IPv4 and UDP headers
	longestPacket = 65535 - 20 - 8
	usualBuffer   = 4 << 20
)

// Config is the configuration of a running node.
type Config struct {
	Node   NodeConfig
	Router multicast.Router // used by this node only
	// Deliver, if not nil, is called for each packet delivered to this node. The packet
	// is as the router left it, and valid until Deliver returns. It is called by the
	// goroutine that received the packet, which receives nothing else meanwhile, or that
	// injected it: at most one call per socket, and one per call of Inject, at a time.
	Deliver func(packet []byte)
	Options
}

// Open opens a node's sockets, in the network namespace of the calling thread. The node
// forwards packets after Run is called.
func Open(c Config) (*Node, error) {
	if err := c.Node.Check(); err != nil {
		return nil, err
	}
	return open(c, nil)
}

// open opens a node whose main socket may already be open. It takes ownership of that
// socket.
func open(c Config, main *net.UDPConn) (_ *Node, err error) {
	longest, buffer := c.MaxPacket, c.Buffer
	if longest == 0 {
		longest = usualPacket
	}
	if buffer == 0 {
		buffer = usualBuffer
	}
	n := &Node{
		config: c.Node, deliver: c.Deliver, router: c.Router, longest: longest,
		byPort: make([]*socket, len(c.Node.Neighbors)),
		ports:  make(map[netip.AddrPort]int, len(c.Node.Neighbors)),
		delay:  newDelay(c.Fault.Delay), ended: make(chan struct{}),
	}
	n.config.Neighbors = slices.Clone(c.Node.Neighbors)
	n.inboxes.New = func() any { return newInbox(longest) }
	n.counters.Ports = make([]PortCounters, len(c.Node.Neighbors))
	defer func() {
		if err != nil {
			if main != nil {
				main.Close()
			}
			n.Close()
		}
	}()
	if c.Router == nil {
		return nil, sentinel.Errorf(umbel.ErrGoal, "node %q has no router", c.Node.Name)
	}
	if longest < 1 || longest > longestPacket || buffer < 0 {
		return nil, sentinel.Errorf(umbel.ErrGoal,
			"packets of %d bytes and buffers of %d, want packets of 1 to %d bytes and buffers above 0", longest, buffer, longestPacket)
	}
	if n.dice, err = newDice(c.Fault, c.Node.Name); err != nil {
		return nil, err
	}
	if err = n.openSockets(main, buffer); err != nil {
		return nil, err
	}
	return n, nil
}

// openSockets opens the sockets of the configuration, except a main socket that is
// already open, and stores their addresses in the configuration.
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
	if n.config.shares() {
		if shared, err = add(&n.config.Listen, main); err != nil {
			return err
		}
	}
	addresses := make([]netip.AddrPort, len(n.byPort))
	for i := range n.config.Neighbors {
		p := &n.config.Neighbors[i]
		addresses[i] = plain(p.Address)
		n.ports[addresses[i]] = i
		n.byPort[i] = shared
		if p.Local.IsValid() {
			if n.byPort[i], err = add(&p.Local, nil); err != nil {
				return err
			}
		}
	}
	if n.config.Host.IsValid() {
		s, err := add(&n.config.Host, nil)
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
