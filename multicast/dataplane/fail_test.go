//go:build linux && !purego

package dataplane

import (
	"net/netip"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umbel-filters/umbel/multicast"
)

// far is unreachable from loopback: RFC 5737 reserves it for documentation.
var far = netip.MustParseAddrPort("192.0.2.1:9")

// failing returns an open node with two neighbors. The system refuses to send to the second.
// Each packet goes to both, and to the first again.
func failing(t *testing.T) *Node {
	t.Helper()
	here := netip.MustParseAddrPort("127.0.0.1:0")
	conn, err := listen(here, usualBuffer)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	n, err := Open(Config{
		Node: NodeConfig{Name: "a", Listen: here, Neighbors: []Neighbor{
			{Address: netip.MustParseAddrPort(conn.LocalAddr().String())}, {Address: far},
		}},
		Router: thrice{},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

// thrice is a router that sends on ports 0, 1 and 0.
type thrice struct{}

func (thrice) Route(dst []multicast.Copy, b []byte, _ int) ([]multicast.Copy, multicast.Verdict) {
	return append(dst, multicast.Copy{Packet: b}, multicast.Copy{Port: 1, Packet: b}, multicast.Copy{Packet: b}), multicast.Verdict{}
}

// TestSendErrors: if some copies can't be sent, the others are sent nevertheless.
func TestSendErrors(t *testing.T) {
	n := failing(t)
	const packets = burst + 3 // more copies than a box holds
	for range packets {
		if err := n.Inject([]byte("x"), []byte("y")); err != nil {
			t.Fatal(err)
		}
	}
	c := n.Counters()
	if c.SendErrors != 2*packets || c.Ports[0].Sent != 4*packets || c.Ports[1].Sent != 0 || c.Sent != 4*packets {
		t.Errorf("%d copies sent, %v by port, %d errors; want %d, all by port 0, and %d", c.Sent, c.Ports, c.SendErrors, 4*packets, 2*packets)
	}
}

// TestSocketFails: if the file descriptor of a socket becomes invalid, the node ends with an
// error.
func TestSocketFails(t *testing.T) {
	n := failing(t)
	other, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	raw, err := n.sockets[0].conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if e := raw.Control(func(fd uintptr) { err = unix.Dup3(int(other.Fd()), int(fd), unix.O_CLOEXEC) }); e != nil || err != nil {
		t.Fatal(e, err)
	}
	if err := n.Inject([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if c := n.Counters(); c.SendErrors != 3 || c.Sent != 0 {
		t.Errorf("%d copies sent and %d errors, want 0 and 3", c.Sent, c.SendErrors)
	}
	err = n.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), `node "a": recvmmsg: `) {
		t.Errorf("Run ended with %v, want the node's name and what failed", err)
	}
	if err := n.Inject([]byte("x")); err == nil {
		t.Error("a node whose socket failed takes packets")
	}
}

// TestCloseWhileSending closes a node that waits, with its lock, for space in its socket's
// buffer.
func TestCloseWhileSending(t *testing.T) {
	n := failing(t)
	s := n.sockets[0]
	waits := make(chan struct{})
	first := true
	s.writer.call = func(uintptr) bool {
		if first {
			first = false
			close(waits)
		}
		return false // as if there were never room
	}
	ended := make(chan error)
	go func() { ended <- n.Inject([]byte("x")) }()
	<-waits
	n.Close()
	if err := <-ended; err != nil {
		t.Errorf("Inject ended with %v, want nil: the packet was taken before", err)
	}
	if c := n.Counters(); c.Sent != 0 || c.SendErrors != 3 {
		t.Errorf("%d copies sent and %d errors, want 0 and 3", c.Sent, c.SendErrors)
	}
}
