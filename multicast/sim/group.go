package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/topology"
)

// Purposes of random numbers. Each purpose has its own sequence, so that draws for one
// don't change the others.
const (
	drawGroup = iota
	drawChange
)

// numbers returns random numbers that depend only on a seed, a purpose and an index.
func numbers(seed uint64, purpose, index int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(index)<<8|uint64(purpose)))
}

// group is a source and its receivers.
type group struct {
	source    int
	receivers []int // sorted
}

// drawn returns a source and n receivers of a connected graph, with n at least 1 and
// below the number of nodes. All nodes have the same probability. If clustered is set,
// the receivers are the n nodes closest to the first of them, in links; ties are broken
// at random.
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

// distances returns the number of links between from and each node, -1 without a path.
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

// packets is a router whose packets are not those of package inpacket.
type packets interface {
	TTL(packet []byte) int     // of a packet, or -1 if it is malformed
	Flood(packet []byte) error // sets all bits of a packet's links or receivers
}

// ttlOf returns the TTL of a packet for a router, or -1 if it has none.
func ttlOf(r multicast.Router, packet []byte) int {
	switch r := r.(type) {
	case packets:
		return r.TTL(packet)
	case *multicast.Node:
		var h inpacket.Header
		if _, err := h.Parse(packet); err == nil {
			return int(h.TTL)
		}
	}
	return -1
}

// flooded returns copies of packets for a router in which all bits of the filter, or of
// the receivers, are set: each would be sent everywhere if routers accepted it.
func flooded(r multicast.Router, headers [][]byte) ([][]byte, error) {
	all := make([][]byte, len(headers))
	for i, packet := range headers {
		all[i] = slices.Clone(packet)
		flood := fillFilter
		switch r := r.(type) {
		case packets:
			flood = r.Flood
		case *multicast.Node:
		default:
			return nil, sentinel.Errorf(errors.ErrUnsupported, "can't flood packets of %T, want a method Flood", r)
		}
		if err := flood(all[i]); err != nil {
			return nil, fmt.Errorf("can't flood header %d: %w", i, err)
		}
	}
	return all, nil
}

// fillFilter sets all bits of the filter of a packet.
func fillFilter(packet []byte) error {
	var h inpacket.Header
	if _, err := h.Parse(packet); err != nil {
		return err
	}
	for b := range h.Bits {
		h.Filter[b>>3] |= 1 << (b & 7) // shares the packet's memory
	}
	return nil
}

// sequenced returns copies of packets for a router, with a source and a sequence number
// if they have filters; other packets have no such fields.
func sequenced(r multicast.Router, packets [][]byte, source, sequence uint32) ([][]byte, error) {
	if _, ok := r.(*multicast.Node); !ok {
		return packets, nil
	}
	all := make([][]byte, len(packets))
	for i, packet := range packets {
		var h inpacket.Header
		n, err := h.Parse(packet)
		if err != nil {
			return nil, fmt.Errorf("can't set the sequence number of header %d: %w", i, err)
		}
		h.Sequenced, h.Source, h.Sequence = true, source, sequence+uint32(i)
		if all[i], err = h.AppendBinary(nil); err != nil {
			return nil, fmt.Errorf("can't set the sequence number of header %d: %w", i, err)
		}
		all[i] = append(all[i], packet[n:]...)
	}
	return all, nil
}
