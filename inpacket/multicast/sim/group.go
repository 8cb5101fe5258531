package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/bier"
	"github.com/umbel-filters/umbel/inpacket/multicast/topology"
)

// What random numbers are drawn for: each purpose has numbers of its own, so that
// what is drawn for one doesn't change the others.
const (
	drawGroup = iota
	drawChange
)

// numbers returns random numbers that depend on nothing but a seed, a purpose and an
// index.
func numbers(seed uint64, purpose, index int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(index)<<8|uint64(purpose)))
}

// group is who sends and who receives.
type group struct {
	source    int
	receivers []int // sorted
}

// drawn returns a source and n receivers of a graph in which there is a way between
// all nodes, n at least 1 and below their number: all as likely, or, if they are to be
// clustered, the n nodes that are the fewest links away from the first of them, of
// those as far as the last as many as it takes.
func drawn(rng *rand.Rand, g *topology.Graph, ports [][]topology.Port, n int, clustered bool) group {
	order := rng.Perm(len(g.Nodes))
	source := order[0]
	receivers := order[1:]
	if clustered {
		away := distances(ports, receivers[0])
		slices.SortStableFunc(receivers, func(a, b int) int { return away[a] - away[b] })
	}
	receivers = slices.Clone(receivers[:n])
	slices.Sort(receivers)
	return group{source, receivers}
}

// distances returns how many links each node is away from one, -1 if there is no way.
func distances(ports [][]topology.Port, from int) []int {
	away := make([]int, len(ports))
	for i := range away {
		away[i] = -1
	}
	away[from] = 0
	queue := []int{from}
	for len(queue) > 0 {
		node := queue[0]
		queue = queue[1:]
		for _, p := range ports[node] {
			if away[p.Neighbor] < 0 {
				away[p.Neighbor] = away[node] + 1
				queue = append(queue, p.Neighbor)
			}
		}
	}
	return away
}

// ttlOf returns the TTL of a packet as a router is to see it, -1 if it has none.
func ttlOf(r multicast.Router, packet []byte) int {
	if _, ok := r.(*multicast.Node); ok {
		var h inpacket.Header
		if _, err := h.Parse(packet); err == nil {
			return int(h.TTL)
		}
		return -1
	}
	var h bier.Header
	if _, err := h.Parse(packet); err == nil {
		return int(h.TTL)
	}
	return -1
}

// flooded returns packets like those that the router is to see, but with ones for all
// bits of the filter, or of the receivers: each would go everywhere, if routers let it.
func flooded(r multicast.Router, packets [][]byte) ([][]byte, error) {
	all := make([][]byte, len(packets))
	for i, packet := range packets {
		all[i] = slices.Clone(packet)
		fill := fillBits
		if _, ok := r.(*multicast.Node); ok {
			fill = fillFilter
		}
		if err := fill(all[i]); err != nil {
			return nil, fmt.Errorf("sim: flood: header %d: %w", i, err)
		}
	}
	return all, nil
}

// fillFilter sets all bits of the filter in a packet.
func fillFilter(packet []byte) error {
	var h inpacket.Header
	if _, err := h.Parse(packet); err != nil {
		return err
	}
	for b := range h.Bits {
		h.Filter[b>>3] |= 1 << (b & 7) // shares the packet's bytes
	}
	return nil
}

// fillBits sets all bits of the bit string in a packet of BIER's.
func fillBits(packet []byte) error {
	var h bier.Header
	if _, err := h.Parse(packet); err != nil {
		return err
	}
	for i := range h.Bits {
		h.Bits[i] = 0xff
	}
	return nil
}

// sequenced returns packets like those that the router is to see, with a source and a
// sequence number if they have filters; others have no such fields.
func sequenced(r multicast.Router, packets [][]byte, source, sequence uint32) ([][]byte, error) {
	if _, ok := r.(*multicast.Node); !ok {
		return packets, nil
	}
	all := make([][]byte, len(packets))
	for i, packet := range packets {
		var h inpacket.Header
		n, err := h.Parse(packet)
		if err != nil {
			return nil, fmt.Errorf("sim: sequence of header %d: %w", i, err)
		}
		h.Sequenced, h.Source, h.Sequence = true, source, sequence+uint32(i)
		if all[i], err = h.AppendBinary(nil); err != nil {
			return nil, fmt.Errorf("sim: sequence of header %d: %w", i, err)
		}
		all[i] = append(all[i], packet[n:]...)
	}
	return all, nil
}
