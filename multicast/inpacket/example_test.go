package inpacket_test

import (
	"fmt"

	"github.com/umbel-filters/umbel/multicast/inpacket"
)

// A sender writes two of a router's links into a header. The router matches all of its links.
func ExampleTable_Match() {
	network := inpacket.Key{1, 2, 3}
	var links []inpacket.Codeword
	for _, name := range []string{"north", "east", "south", "west"} {
		links = append(links, network.Derive([]byte(name)).Codeword(1))
	}

	h := inpacket.Header{TTL: 1, Form: inpacket.Single, K: 4, Bits: 24, Epoch: 1, Group: 7, Filter: make([]byte, 3)}
	for _, l := range []int{0, 2} {
		if err := h.Or(links[l]); err != nil {
			fmt.Println(err)
		}
	}
	packet, err := h.AppendBinary(nil)
	if err != nil {
		fmt.Println(err)
	}
	packet = append(packet, "hello"...)

	var got inpacket.Header
	n, err := got.Parse(packet)
	if err != nil {
		fmt.Println(err)
	}
	var held [1]uint64
	inpacket.NewTable(links).Match(held[:], &got)
	fmt.Printf("group %d: links %04b, payload %q after %d bytes\n", got.Group, held[0], packet[n:], n)
	// Output: group 7: links 0101, payload "hello" after 16 bytes
}

// A router writes its name into the packet's trace, if there is room.
func ExampleRecord() {
	h := inpacket.Header{Form: inpacket.Linear, Bits: 8, Filter: []byte{0xa5}, Trace: &inpacket.Trace{Capacity: 2}}
	packet, err := h.AppendBinary(nil)
	if err != nil {
		fmt.Println(err)
	}
	for node := range uint32(3) {
		fmt.Println(node, inpacket.Record(packet, node))
	}
	if _, err := h.Parse(packet); err != nil {
		fmt.Println(err)
	}
	fmt.Println(h.Trace.Nodes)
	// Output:
	// 0 true
	// 1 true
	// 2 false
	// [0 1]
}
