//go:build linux

package dataplane_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbel-filters/umbel/internal/maps"
	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/dataplane"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/topology"
)

// inside is set in the environment of the process that owns the namespaces.
const inside = "UMBEL_TEST_NAMESPACES"

// TestNamespaces runs a grid of nodes, each in its own network namespace, with pairs of virtual
// Ethernet devices as links and a socket for each end of a link. It needs the privilege to make
// a user namespace only, in which it runs itself again.
func TestNamespaces(t *testing.T) {
	if os.Getenv(inside) != "" {
		testNamespaces(t)
		return
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("needs the program ip, of iproute2: ", err)
	}
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNamespaces$", "-test.v")
	again.Env = append(os.Environ(), inside+"=1")
	again.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	runtime.LockOSThread() // whose end would be the other process's too, by Pdeathsig
	defer runtime.UnlockOSThread()
	out, err := again.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil && bytes.Contains(out, []byte("--- SKIP: TestNamespaces (")):
		t.Skipf("%s", out)
	case err == nil:
		t.Logf("%s", out)
	case errors.As(err, &exit):
		t.Errorf("%v:\n%s", err, out)
	default:
		t.Skip("needs the privilege to make a user and a network namespace: ", err)
	}
}

func testNamespaces(t *testing.T) {
	t.Run("grid", func(t *testing.T) {
		testSpaces(t, graph(t)(topology.Grid(4, 5)), inpacket.Linear, 0, []int{3, 4, 9, 10, 12, 15, 17, 19})
	})
	t.Run("fat tree", func(t *testing.T) {
		g := graph(t)(topology.FatTree(4))
		last := len(g.Nodes) - 1
		testSpaces(t, g, inpacket.Staged, last-15, []int{last - 14, last - 13, last - 11, last - 8, last - 6, last - 3, last - 2, last})
	})
	t.Run("AS1221", func(t *testing.T) {
		g := maps.Graph(t, "rocketfuel-as1221")
		testSpaces(t, g, inpacket.Linear, 0, []int{13, 26, 39, 52, 65, 78, 91, 103})
	})
}

func testSpaces(t *testing.T, g *topology.Graph, form inpacket.Form, source int, receivers []int) {
	l := newLab(t, g, form, source, receivers, packetsSent)

	begin := time.Now()
	spaces := newSpaces(t, g)
	made := time.Now()
	spaces.await(t)
	t.Logf("namespaces made in %v, all links carry after %v more", made.Sub(begin), time.Since(made))

	pacer, err := dataplane.NewPacer(dataplane.Pace{Window: 256, Receivers: len(receivers), Patience: noLoss})
	if err != nil {
		t.Fatal(err)
	}
	nodes := make([]*dataplane.Node, len(g.Nodes))
	for i := range nodes {
		nodes[i] = spaces.open(t, i, 9000, dataplane.Config{
			Router: l.routers[i],
			Deliver: func(packet []byte) {
				l.deliver(i, packet)
				pacer.Delivered()
			},
		})
	}
	stop := runAll(t, nodes)
	l.send(t.Context(), t, nodes[l.tree.Source], pacer)
	stop()
	l.check(t, l.arcs(nodes))
}

// spaces are network namespaces, one for each node.
type spaces struct {
	graph *topology.Graph
	ports [][]topology.Port
	files []int         // of the namespaces
	tasks []chan func() // for a thread in each
}

// newSpaces makes a namespace for each node and a pair of devices for each link. The device for
// port p of a node is called pp.
func newSpaces(t *testing.T, g *topology.Graph) *spaces {
	t.Helper()
	s := &spaces{graph: g, ports: g.Ports()}
	for range g.Nodes {
		file, tasks, err := enter()
		if err != nil {
			t.Skip("needs the privilege to make network namespaces in one: ", err)
		}
		t.Cleanup(func() {
			close(tasks)
			unix.Close(file)
		})
		s.files, s.tasks = append(s.files, file), append(s.tasks, tasks)
	}
	// Both ends of each link are made where they belong. Static neighbors and no IPv6:
	// then devices carry packets at once, and not only when they have found out who else
	// is there.
	var links strings.Builder
	for i := range g.Links {
		there := topology.ArcOf(i, false)
		fmt.Fprintf(&links, "link add %s type veth peer %s\n", s.device(there), s.device(there.Reverse()))
	}
	must(t, ip(links.String()))
	for node, ports := range s.ports {
		var b strings.Builder
		b.WriteString("link set lo up\n")
		for i, p := range ports {
			fmt.Fprintf(&b, "link set p%d addrgenmode none\n", i)
			fmt.Fprintf(&b, "addr add %v/31 dev p%d\nlink set p%d up\n", address(p.Arc), i, i)
			fmt.Fprintf(&b, "neigh add %v lladdr %s dev p%d nud permanent\n", address(p.Arc.Reverse()), hardware(p.Arc.Reverse()), i)
		}
		var err error
		s.in(node, func() { err = ip(b.String()) })
		must(t, err)
	}
	return s
}

// enter starts a thread in a new network namespace, which runs functions until the channel is
// closed. It returns a file of the namespace.
func enter() (file int, tasks chan func(), err error) {
	tasks = make(chan func())
	made := make(chan error)
	go func() {
		runtime.LockOSThread() // and not unlocked: the thread ends with the goroutine
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			file, err = unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		}
		made <- err
		for task := range tasks {
			task()
		}
	}()
	if err = <-made; err != nil {
		close(tasks)
	}
	return file, tasks, err
}

// in runs a function in the namespace of a node.
func (s *spaces) in(node int, task func()) {
	done := make(chan struct{})
	s.tasks[node] <- func() {
		defer close(done)
		task()
	}
	<-done
}

// device returns the arguments of ip for the device of an arc, in the namespace of the node
// where the arc begins.
func (s *spaces) device(a topology.Arc) string {
	node, _ := s.graph.Ends(a)
	for i, p := range s.ports[node] {
		if p.Arc == a {
			return fmt.Sprintf("netns /proc/%d/fd/%d name p%d address %s", os.Getpid(), s.files[node], i, hardware(a))
		}
	}
	panic("an arc is no port's")
}

// hardware returns the address of an arc's device.
func hardware(a topology.Arc) string { return fmt.Sprintf("02:00:00:00:%02x:%02x", a>>8, a&255) }

// address returns the IP address of an arc's device. The two addresses of a link are
// consecutive.
func address(a topology.Arc) netip.Addr {
	return netip.AddrFrom4([4]byte{10, 0, byte(a >> 8), byte(a)})
}

// ip runs lines of commands of the program ip.
func ip(lines string) error {
	c := exec.Command("ip", "-batch", "-")
	c.Stdin = strings.NewReader(lines)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("ip: %w: %s", err, out)
	}
	return nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens a node in its namespace.
func (s *spaces) open(t *testing.T, node int, port uint16, c dataplane.Config) *dataplane.Node {
	t.Helper()
	c.Node.Name = s.graph.Nodes[node].Name
	for _, p := range s.ports[node] {
		c.Node.Neighbors = append(c.Node.Neighbors, dataplane.Neighbor{
			Local:   netip.AddrPortFrom(address(p.Arc), port),
			Address: netip.AddrPortFrom(address(p.Arc.Reverse()), port),
		})
	}
	var n *dataplane.Node
	var err error
	s.in(node, func() { n, err = dataplane.Open(c) })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// await sends packets over all links until one has arrived over each, because a new device drops
// packets until the system has noticed that it is up.
func (s *spaces) await(t *testing.T) {
	t.Helper()
	heard := make(chan struct{}, 1)
	nodes := make([]*dataplane.Node, len(s.graph.Nodes))
	for i := range nodes {
		nodes[i] = s.open(t, i, 9001, dataplane.Config{
			Router: probe{len(s.ports[i])},
			Deliver: func([]byte) {
				select {
				case heard <- struct{}{}:
				default:
				}
			},
		})
	}
	defer runAll(t, nodes)()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for !allHeard(nodes) {
		for _, n := range nodes {
			if err := n.Inject([]byte("probe")); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case <-heard:
		case <-again.C:
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		}
	}
}

func allHeard(nodes []*dataplane.Node) bool {
	for _, n := range nodes {
		for _, p := range n.Counters().Ports {
			if p.Received == 0 {
				return false
			}
		}
	}
	return true
}

// probe sends packets from the host on all ports, and delivers packets from ports.
type probe struct{ ports int }

func (p probe) Route(dst []multicast.Copy, b []byte, in int) ([]multicast.Copy, multicast.Verdict) {
	if in != multicast.Host {
		return dst, multicast.Verdict{Deliver: true}
	}
	for i := range p.ports {
		dst = append(dst, multicast.Copy{Port: i, Packet: b})
	}
	return dst, multicast.Verdict{}
}
