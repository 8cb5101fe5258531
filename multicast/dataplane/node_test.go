package dataplane_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/internal/freeport"
	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/dataplane"
)

// anywhere is a free port on loopback.
var anywhere = netip.MustParseAddrPort("127.0.0.1:0")

// routed is a router that consists of a function.
type routed func(dst []multicast.Copy, b []byte, in int) ([]multicast.Copy, multicast.Verdict)

func (r routed) Route(dst []multicast.Copy, b []byte, in int) ([]multicast.Copy, multicast.Verdict) {
	return r(dst, b, in)
}

// onward sends packets from the host on port 0 and delivers all others.
func onward(dst []multicast.Copy, b []byte, in int) ([]multicast.Copy, multicast.Verdict) {
	if in == multicast.Host {
		return append(dst, multicast.Copy{Packet: b}), multicast.Verdict{}
	}
	return dst, multicast.Verdict{Deliver: true}
}

// plug is a socket in place of a neighbor.
func plug(t *testing.T, network string) (*net.UDPConn, netip.AddrPort) {
	t.Helper()
	at := "127.0.0.1:0"
	if network == "udp6" {
		at = "[::1]:0"
	}
	conn, err := net.ListenUDP(network, net.UDPAddrFromAddrPort(netip.MustParseAddrPort(at)))
	if err != nil {
		t.Skipf("needs %s on loopback: %v", network, err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn, conn.LocalAddr().(*net.UDPAddr).AddrPort()
}

// free returns an address at which nothing listens.
func free(t *testing.T) netip.AddrPort {
	t.Helper()
	addr, err := freeport.Addr()
	if err != nil {
		t.Fatal(err)
	}
	return netip.MustParseAddrPort(addr)
}

// start opens a node with one neighbor and runs it until the test ends.
func start(t *testing.T, neighbor netip.AddrPort, c dataplane.Config) *dataplane.Node {
	t.Helper()
	c.Node.Name = "a"
	if !c.Node.Listen.IsValid() {
		c.Node.Listen = anywhere
	}
	c.Node.Neighbors = []dataplane.Neighbor{{Name: "b", Address: neighbor}}
	n, err := dataplane.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { ended <- n.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return n
}

func receive(t *testing.T, conn *net.UDPConn) (string, netip.AddrPort) {
	t.Helper()
	b := make([]byte, 1<<16)
	n, from, err := conn.ReadFromUDPAddrPort(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(b[:n]), netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
}

func send(t *testing.T, conn *net.UDPConn, to netip.AddrPort, packet string) {
	t.Helper()
	if _, err := conn.WriteToUDPAddrPort([]byte(packet), to); err != nil {
		t.Fatal(err)
	}
}

// TestNodeForwards sends packets through a node in both directions, over IPv4 and IPv6.
func TestNodeForwards(t *testing.T) {
	for name, listen := range map[string]string{"udp4": "127.0.0.1:0", "udp6": "[::1]:0"} {
		t.Run(name, func(t *testing.T) {
			neighbor, at := plug(t, name)
			delivered := make(chan string, 1)
			n := start(t, at, dataplane.Config{
				Node:    dataplane.NodeConfig{Listen: netip.MustParseAddrPort(listen)},
				Router:  routed(onward),
				Deliver: func(packet []byte) { delivered <- string(packet) },
			})
			if err := n.Inject([]byte("to b")); err != nil {
				t.Fatal(err)
			}
			if got, from := receive(t, neighbor); got != "to b" || from != n.Config().Listen {
				t.Errorf("the neighbor got %q from %v, want %q from %v", got, from, "to b", n.Config().Listen)
			}
			send(t, neighbor, n.Config().Listen, "to a")
			if got := <-delivered; got != "to a" {
				t.Errorf("the node got %q", got)
			}
		})
	}
}

// TestNodeOwnSockets uses one socket for the neighbor and one for the host.
func TestNodeOwnSockets(t *testing.T) {
	neighbor, at := plug(t, "udp4")
	unknown, _ := plug(t, "udp4")
	n, err := dataplane.Open(dataplane.Config{
		Node: dataplane.NodeConfig{Name: "a", Host: anywhere, Listen: anywhere, Neighbors: []dataplane.Neighbor{
			{Address: at, Local: anywhere}, {Address: netip.MustParseAddrPort("127.0.0.1:9")},
		}},
		Router: routed(onward),
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- n.Run(t.Context()) }()
	s := n.Config()
	send(t, unknown, s.Host, "from the host")
	got, from := receive(t, neighbor)
	if got != "from the host" || from != s.Neighbors[0].Local {
		t.Errorf("the neighbor got %q from %v, want it from %v", got, from, s.Neighbors[0].Local)
	}
	// The neighbor's way is its own socket, and no other.
	send(t, neighbor, s.Listen, "astray")
	await(t, n, func(c dataplane.Counters) bool { return c.Unknown == 1 })
	send(t, neighbor, s.Neighbors[0].Local, "right")
	await(t, n, func(c dataplane.Counters) bool { return c.Received == 1 })
	n.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// await waits until the node's counters have the wanted values. UDP over loopback may be slow,
// but doesn't lose a few packets.
func await(t *testing.T, n *dataplane.Node, ok func(dataplane.Counters) bool) {
	t.Helper()
	for !ok(n.Counters()) {
		if t.Context().Err() != nil {
			t.Fatalf("not so: %+v", n.Counters())
		}
		runtime.Gosched()
	}
}

// TestNodeDrops sends packets with one fault each. Each is counted.
func TestNodeDrops(t *testing.T) {
	neighbor, at := plug(t, "udp4")
	unknown, _ := plug(t, "udp4")
	n := start(t, at, dataplane.Config{
		Router: routed(func(dst []multicast.Copy, b []byte, in int) ([]multicast.Copy, multicast.Verdict) {
			switch string(b) {
			case "drop":
				return dst, multicast.Verdict{Drop: multicast.Expired}
			case "past":
				return append(dst, multicast.Copy{Port: 1, Packet: b}, multicast.Copy{Port: -1, Packet: b}), multicast.Verdict{}
			case "grow":
				return append(dst, multicast.Copy{Packet: make([]byte, 101)}), multicast.Verdict{}
			}
			return dst, multicast.Verdict{}
		}),
		Options: dataplane.Options{MaxPacket: 100},
	})
	node := n.Config().Listen
	send(t, unknown, node, "hello")
	send(t, neighbor, node, strings.Repeat("x", 101))
	send(t, neighbor, node, strings.Repeat("x", 60_000))
	for _, packet := range []string{"drop", "past", "grow", "", strings.Repeat("x", 100)} {
		send(t, neighbor, node, packet)
	}
	want := dataplane.Counters{Received: 5, Unknown: 1, TooLong: 3, SendErrors: 2}
	want.Drops[multicast.Expired] = 1
	await(t, n, func(c dataplane.Counters) bool {
		if c.Ports[0] != (dataplane.PortCounters{Received: c.Received}) {
			t.Fatalf("a node of one neighbor counted %+v", c)
		}
		c.Ports = nil
		return equal(c, want)
	})
	if err := n.Inject([]byte("fine"), make([]byte, 101)); err == nil {
		t.Error("a packet that is too long was taken")
	}
	if got := n.Counters().Injected; got != 0 {
		t.Errorf("%d packets were accepted together with one that is too long", got)
	}
}

func equal(a, b dataplane.Counters) bool {
	a.Ports, b.Ports = nil, nil
	return a.Received == b.Received && a.Unknown == b.Unknown && a.TooLong == b.TooLong && a.SendErrors == b.SendErrors &&
		a.Drops == b.Drops && a.Sent == b.Sent && a.Injected == b.Injected && a.Delivered == b.Delivered
}

// TestNodeLongest sends the longest possible datagrams.
func TestNodeLongest(t *testing.T) {
	neighbor, at := plug(t, "udp4")
	n := start(t, at, dataplane.Config{Router: routed(onward), Options: dataplane.Options{MaxPacket: 65507}})
	long := strings.Repeat("x", 65507)
	if err := n.Inject([]byte(long)); err != nil {
		t.Fatal(err)
	}
	if c := n.Counters(); c.SendErrors > 0 {
		t.Skip("needs a system that sends datagrams of 65507 bytes")
	}
	if got, _ := receive(t, neighbor); got != long {
		t.Errorf("the neighbor got %d bytes", len(got))
	}
	send(t, neighbor, n.Config().Listen, long)
	await(t, n, func(c dataplane.Counters) bool { return c.Delivered == 1 })
}

// TestNodeEnds: Inject into a closed node returns net.ErrClosed, and its counters remain.
func TestNodeEnds(t *testing.T) {
	_, at := plug(t, "udp4")
	n := start(t, at, dataplane.Config{Router: routed(onward)})
	if err := n.Inject([]byte("x")); err != nil {
		t.Fatal(err)
	}
	n.Close()
	n.Close()
	if err := n.Inject([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Inject into a closed node: %v, want net.ErrClosed", err)
	}
	if c := n.Counters(); c.Injected != 1 || c.Sent != 1 {
		t.Errorf("a closed node has counted %+v, want one packet in and one out", c)
	}
}

// TestNodeNeighborGone sends to a neighbor that is absent for a while.
func TestNodeNeighborGone(t *testing.T) {
	at := free(t)
	n := start(t, at, dataplane.Config{Router: routed(onward)})
	const packets = 300
	for range packets {
		if err := n.Inject([]byte("anyone?")); err != nil {
			t.Fatal(err)
		}
	}
	if c := n.Counters(); c.Sent+c.SendErrors != packets {
		t.Errorf("counted %+v for %d packets", c, packets)
	}
	back, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(at))
	if err != nil {
		t.Fatal(err)
	}
	defer back.Close()
	if err := n.Inject([]byte("again?")); err != nil {
		t.Fatal(err)
	}
	if got, _ := receive(t, back); got != "again?" {
		t.Errorf("the neighbor that came back got %q", got)
	}
}

// TestDeliverMayInject: Deliver may inject a reply.
func TestDeliverMayInject(t *testing.T) {
	neighbor, at := plug(t, "udp4")
	var n *dataplane.Node
	ready := make(chan struct{})
	n = start(t, at, dataplane.Config{Router: routed(onward), Deliver: func(packet []byte) {
		<-ready
		if err := n.Inject(append([]byte("re: "), packet...)); err != nil {
			t.Error(err)
		}
	}})
	close(ready)
	send(t, neighbor, n.Config().Listen, "hello")
	if got, _ := receive(t, neighbor); got != "re: hello" {
		t.Errorf("the answer is %q", got)
	}
}

// TestWith changes a router while packets are routed.
func TestWith(t *testing.T) {
	_, at := plug(t, "udp4")
	count := 0
	n := start(t, at, dataplane.Config{Router: routed(func(dst []multicast.Copy, b []byte, in int) ([]multicast.Copy, multicast.Verdict) {
		count++
		return dst, multicast.Verdict{}
	})})
	done := make(chan error)
	go func() { done <- n.Send(t.Context(), nil, 1000, func(int) []byte { return nil }) }()
	for range 100 {
		n.With(func(multicast.Router) { count += 1000 })
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if n.With(func(multicast.Router) {}); count != 101_000 {
		t.Errorf("counted %d, want 101000", count)
	}
}

// TestLoss drops copies at random; the same seed drops the same copies.
func TestLoss(t *testing.T) {
	const packets = 2000
	lost := func(f dataplane.Fault) (which string) {
		// A node that isn't run, and whose neighbor doesn't care: only what is counted
		// matters.
		_, at := plug(t, "udp4")
		n, err := dataplane.Open(dataplane.Config{
			Node:   dataplane.NodeConfig{Name: "a", Listen: anywhere, Neighbors: []dataplane.Neighbor{{Address: at}}},
			Router: routed(onward), Options: dataplane.Options{Fault: f},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer n.Close()
		var b strings.Builder
		for range packets {
			before := n.Counters()
			if err := n.Inject([]byte("x")); err != nil {
				t.Fatal(err)
			}
			after := n.Counters()
			if after.Sent+after.Faults != before.Sent+before.Faults+1 {
				t.Fatalf("one copy: %+v then %+v", before, after)
			}
			b.WriteByte("01"[after.Faults-before.Faults])
		}
		return b.String()
	}
	a, b, c := lost(dataplane.Fault{Loss: 0.25, Seed: 1}), lost(dataplane.Fault{Loss: 0.25, Seed: 1}), lost(dataplane.Fault{Loss: 0.25, Seed: 2})
	if a != b {
		t.Error("the same seed loses others")
	}
	if a == c {
		t.Error("another seed loses the same")
	}
	// 2000 · 1/4 ± 5 standard deviations of sqrt(2000 · 3/16) = 19.4
	if n := strings.Count(a, "1"); n < 403 || n > 597 {
		t.Errorf("lost %d of %d, want 500 ± 97", n, packets)
	}
	if n := strings.Count(lost(dataplane.Fault{Loss: 1}), "0"); n != 0 {
		t.Errorf("%d came through where all are lost", n)
	}
	if n := strings.Count(lost(dataplane.Fault{}), "1"); n != 0 {
		t.Errorf("%d were lost where none is", n)
	}
}

// TestDelay: no packet is sent before it is due, and packets stay in order.
func TestDelay(t *testing.T) {
	neighbor, at := plug(t, "udp4")
	const wait = 30 * time.Millisecond
	n := start(t, at, dataplane.Config{Router: routed(onward), Options: dataplane.Options{Fault: dataplane.Fault{Delay: wait}}})
	for round := range 3 {
		begin := time.Now()
		if err := n.Send(t.Context(), nil, 200, func(i int) []byte { return []byte{byte(round), byte(i)} }); err != nil {
			t.Fatal(err)
		}
		for i := range 200 {
			if got, _ := receive(t, neighbor); got != string([]byte{byte(round), byte(i)}) {
				t.Fatalf("got % x, want %02x %02x", got, round, i)
			}
			if since := time.Since(begin); since < wait {
				t.Fatalf("packet %d took %v, want %v at least", i, since, wait)
			}
		}
	}
}

// TestDelayFull delays more copies than a node keeps.
func TestDelayFull(t *testing.T) {
	_, at := plug(t, "udp4")
	n := start(t, at, dataplane.Config{Router: routed(onward), Options: dataplane.Options{Fault: dataplane.Fault{Delay: time.Hour}}})
	if err := n.Send(t.Context(), nil, 1<<14+10, func(int) []byte { return []byte("x") }); err != nil {
		t.Fatal(err)
	}
	if c := n.Counters(); c.Faults != 10 || c.Sent != 0 {
		t.Errorf("%d copies were lost and %d sent, want 10 and none", c.Faults, c.Sent)
	}
}

// TestOpenRefuses has configs with one fault each.
func TestOpenRefuses(t *testing.T) {
	_, at := plug(t, "udp4")
	for name, change := range map[string]func(*dataplane.Config){
		"no router":        func(c *dataplane.Config) { c.Router = nil },
		"no name":          func(c *dataplane.Config) { c.Node.Name = "" },
		"negative packet":  func(c *dataplane.Config) { c.MaxPacket = -1 },
		"giant packet":     func(c *dataplane.Config) { c.MaxPacket = 65508 },
		"negative buffer":  func(c *dataplane.Config) { c.Buffer = -1 },
		"loss above one":   func(c *dataplane.Config) { c.Fault.Loss = 1.5 },
		"negative delay":   func(c *dataplane.Config) { c.Fault.Delay = -1 },
		"address taken":    func(c *dataplane.Config) { c.Node.Listen = at },
		"host's taken":     func(c *dataplane.Config) { c.Node.Host = at },
		"neighbor's taken": func(c *dataplane.Config) { c.Node.Neighbors[0].Local = at },
	} {
		t.Run(name, func(t *testing.T) {
			c := dataplane.Config{
				Node:   dataplane.NodeConfig{Name: "a", Listen: anywhere, Neighbors: []dataplane.Neighbor{{Address: netip.MustParseAddrPort("127.0.0.1:9")}}},
				Router: routed(onward),
			}
			change(&c)
			n, err := dataplane.Open(c)
			if err == nil {
				n.Close()
				t.Fatal("taken")
			}
		})
	}
}

// TestNoAllocation sends packets from one node to another without allocations.
func TestNoAllocation(t *testing.T) {
	for name, f := range map[string]dataplane.Fault{"at once": {}, "lossy": {Loss: 1e-9}} {
		t.Run(name, func(t *testing.T) {
			got := make(chan struct{}, 1)
			neighbor, at := plug(t, "udp4")
			n := start(t, at, dataplane.Config{
				Router:  routed(onward),
				Deliver: func([]byte) { got <- struct{}{} },
				Options: dataplane.Options{Fault: f},
			})
			packet, buffer, to := [][]byte{[]byte("x")}, make([]byte, 10), n.Config().Listen
			allocs := testing.AllocsPerRun(1000, func() {
				if err := n.Inject(packet...); err != nil {
					t.Fatal(err)
				}
				if _, _, err := neighbor.ReadFromUDPAddrPort(buffer); err != nil {
					t.Fatal(err)
				}
				if _, err := neighbor.WriteToUDPAddrPort(buffer[:1], to); err != nil {
					t.Fatal(err)
				}
				<-got
			})
			if allocs != 0 {
				t.Errorf("%v allocations for a packet out and one in", allocs)
			}
		})
	}
}
