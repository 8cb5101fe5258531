package sim

import (
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel/inpacket"
	"github.com/umbel-filters/umbel/inpacket/multicast"
	"github.com/umbel-filters/umbel/inpacket/multicast/bier"
)

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
