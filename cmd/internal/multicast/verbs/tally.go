package verbs

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/dataplane"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/multicast/tree"
)

// packets are the packets to send: a header, whose sequence number, if it has one, is the
// packet's number, and a payload that ends with that number. As many are in memory as are
// sent together.
type packets struct {
	ring      [64][]byte
	sequenced bool
}

func newPackets(header []byte, payload int, sequenced bool) *packets {
	p := &packets{sequenced: sequenced}
	for i := range p.ring {
		p.ring[i] = append(slices.Clone(header), make([]byte, payload)...)
	}
	return p
}

func (p *packets) packet(i int) []byte {
	b := p.ring[i%len(p.ring)]
	if p.sequenced {
		inpacket.SetSequence(b, uint32(i))
	}
	binary.BigEndian.PutUint64(b[len(b)-8:], uint64(i))
	return b
}

// extend modifies headers with filters.
func extend(headers [][]byte, change func(*inpacket.Header)) error {
	for i, b := range headers {
		var h inpacket.Header
		if _, err := h.Parse(b); err != nil {
			return err
		}
		change(&h)
		var err error
		if headers[i], err = h.AppendBinary(nil); err != nil {
			return err
		}
	}
	return nil
}

// tally counts deliveries. It is safe for concurrent use.
type tally struct {
	total atomic.Uint64

	mu       sync.Mutex
	packets  uint64           // expected by each receiver, 0 if unknown
	seen     map[int][]uint64 // for each receiver: the packets that it got, as bits, if packets is known
	distinct map[int]uint64   // for each receiver: number of distinct packets
	again    uint64           // deliveries to receivers that already had the packet
	wrong    uint64           // deliveries to others
	trace    bool
	paths    map[int][]uint32 // nodes passed by the first packet to each receiver
}

func newTally(receivers []int, packets uint64, trace bool) *tally {
	t := &tally{packets: packets, seen: map[int][]uint64{}, distinct: map[int]uint64{}, paths: map[int][]uint32{}, trace: trace}
	for _, r := range receivers {
		t.seen[r] = make([]uint64, (packets+63)/64)
		t.distinct[r] = 0
	}
	return t
}

// deliver counts a packet at a node.
func (t *tally) deliver(node int, packet []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.total.Add(1)
	seen, ok := t.seen[node]
	if !ok {
		t.wrong++
		return
	}
	if t.trace && t.paths[node] == nil {
		var h inpacket.Header
		if _, err := h.Parse(packet); err == nil && h.Trace != nil {
			t.paths[node] = h.Trace.Nodes
		}
	}
	if t.packets > 0 {
		i := binary.BigEndian.Uint64(packet[max(0, len(packet)-8):])
		if i >= t.packets {
			t.wrong++
			return
		}
		if seen[i/64]>>(i%64)&1 != 0 {
			t.again++
			return
		}
		seen[i/64] |= 1 << (i % 64)
	}
	t.distinct[node]++
}

// runInfo is the output of umbel-multicast run for a whole network.
type runInfo struct {
	Form           string  `json:"form"`
	Bits           int     `json:"bits"`
	Receivers      int     `json:"receivers"`
	Packets        uint64  `json:"packets"`
	Delivered      uint64  `json:"delivered"` // distinct packets, summed over receivers
	Missed         uint64  `json:"missed"`
	Twice          uint64  `json:"deliveredTwice"`
	Wrong          uint64  `json:"deliveredWrong"`
	TreeLinks      int     `json:"treeLinks"`
	Copies         uint64  `json:"copies"`
	CopiesPer      float64 `json:"copiesPerPacket"`
	FalseForwards  uint64  `json:"falseForwards"` // copies over links that aren't of the tree
	SendErrors     uint64  `json:"sendErrors"`
	KernelDrops    uint64  `json:"kernelDrops"`
	Faults         uint64  `json:"faults"`
	Seconds        float64 `json:"seconds"`
	CopiesASecond  float64 `json:"copiesPerSecond"`
	PacketsASecond float64 `json:"packetsPerSecond"`

	Drops map[string]uint64   `json:"drops,omitempty"`
	Paths map[string][]string `json:"paths,omitempty"`
}

func newRunInfo(t *tree.Tree, p scheme.Plan, c *tally, cluster *dataplane.Cluster, took time.Duration) runInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := cluster.Counters()
	in := runInfo{
		Form: p.Form, Bits: p.Bits, Receivers: len(t.Receivers), Packets: c.packets, Twice: c.again, Wrong: c.wrong,
		TreeLinks: len(t.Steps), Copies: sum.Sent, CopiesPer: float64(sum.Sent) / float64(c.packets),
		SendErrors: sum.SendErrors, KernelDrops: sum.KernelDrops, Faults: sum.Faults,
		Seconds: took.Seconds(), CopiesASecond: float64(sum.Sent) / took.Seconds(), PacketsASecond: float64(c.packets) / took.Seconds(),
		Drops: dropsNamed(sum), Paths: pathsOf(t.Graph, c.paths),
	}
	for _, n := range c.distinct {
		in.Delivered += n
	}
	in.Missed = c.packets*uint64(len(t.Receivers)) - in.Delivered
	ours := map[topology.Arc]bool{}
	for _, s := range t.Steps {
		ours[s.Arc] = true
	}
	for a, arc := range cluster.Arcs() {
		if !ours[topology.Arc(a)] {
			in.FalseForwards += arc.Sent
		}
	}
	return in
}

func dropsNamed(c dataplane.Counters) map[string]uint64 {
	named := map[string]uint64{}
	for r, n := range c.Drops {
		if n > 0 {
			named[multicast.Reason(r).String()] = n
		}
	}
	return named
}

// pathsOf returns the names of the nodes of paths.
func pathsOf(g *topology.Graph, paths map[int][]uint32) map[string][]string {
	if len(paths) == 0 {
		return nil
	}
	named := map[string][]string{}
	for receiver, path := range paths {
		var names []string
		for _, node := range path {
			if int(node) < len(g.Nodes) {
				names = append(names, g.Nodes[node].Name)
			}
		}
		named[g.Nodes[receiver].Name] = names
	}
	return named
}

func (in runInfo) Write(w io.Writer) error {
	fmt.Fprintf(w, "%d packets to %d receivers, %s, %d bits: %d of %d delivered", in.Packets, in.Receivers, in.Form, in.Bits, in.Delivered, in.Delivered+in.Missed)
	if in.Twice+in.Wrong > 0 {
		fmt.Fprintf(w, ", %d of them again, %d to other nodes", in.Twice, in.Wrong)
	}
	fmt.Fprintf(w, "\n%.3f copies per packet over %d links of the tree, %d false forwards\n", in.CopiesPer, in.TreeLinks, in.FalseForwards)
	fmt.Fprintf(w, "%.0f packets and %.0f copies per second, in %.2f s\n", in.PacketsASecond, in.CopiesASecond, in.Seconds)
	if n := in.Faults + in.KernelDrops + in.SendErrors; n > 0 {
		fmt.Fprintf(w, "lost: %d by deliberate faults, %d in full sockets, %d by send errors\n", in.Faults, in.KernelDrops, in.SendErrors)
	}
	for _, reason := range slices.Sorted(maps.Keys(in.Drops)) {
		fmt.Fprintf(w, "dropped, %s: %d\n", reason, in.Drops[reason])
	}
	return writePaths(w, in.Paths)
}

func writePaths(w io.Writer, paths map[string][]string) error {
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		if _, err := fmt.Fprintf(w, "to %s: %s\n", name, strings.Join(paths[name], " > ")); err != nil {
			return err
		}
	}
	return nil
}

// nodeRunInfo is the output of umbel-multicast run for a single node.
type nodeRunInfo struct {
	Node      string            `json:"node"`
	Received  uint64            `json:"received"` // from neighbors
	Injected  uint64            `json:"injected"` // from its own host
	Sent      uint64            `json:"sent"`
	Delivered uint64            `json:"delivered"`
	Unknown   uint64            `json:"unknown"` // from addresses that are not of a neighbor
	Lost      uint64            `json:"lost"`    // by faults, full sockets, errors
	Drops     map[string]uint64 `json:"drops"`

	Paths map[string][]string `json:"paths,omitempty"`
}

func newNodeRunInfo(g *topology.Graph, self int, c dataplane.Counters, t *tally) nodeRunInfo {
	t.mu.Lock()
	defer t.mu.Unlock()
	return nodeRunInfo{
		Node: g.Nodes[self].Name, Received: c.Received, Injected: c.Injected, Sent: c.Sent, Delivered: t.total.Load(), Unknown: c.Unknown,
		Lost: c.Faults + c.KernelDrops + c.SendErrors + c.TooLong, Drops: dropsNamed(c),
		Paths: pathsOf(g, t.paths),
	}
}

func (in nodeRunInfo) Write(w io.Writer) error {
	fmt.Fprintf(w, "%s: %d from its host, %d received, %d sent, %d delivered, %d from unknown addresses, %d lost\n",
		in.Node, in.Injected, in.Received, in.Sent, in.Delivered, in.Unknown, in.Lost)
	for _, reason := range slices.Sorted(maps.Keys(in.Drops)) {
		fmt.Fprintf(w, "dropped, %s: %d\n", reason, in.Drops[reason])
	}
	return writePaths(w, in.Paths)
}
