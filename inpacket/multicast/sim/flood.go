package sim

import (
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel/inpacket"
)

// flooded returns packets like those given whose filters are all ones: each would go
// over every link, if routers let it.
func flooded(packets [][]byte) ([][]byte, error) {
	all := make([][]byte, len(packets))
	for i, packet := range packets {
		packet = slices.Clone(packet)
		var h inpacket.Header
		if _, err := h.Parse(packet); err != nil {
			return nil, fmt.Errorf("sim: flood: header %d: %w", i, err)
		}
		for b := range h.Bits {
			h.Filter[b>>3] |= 1 << (b & 7) // shares the packet's bytes
		}
		all[i] = packet
	}
	return all, nil
}
