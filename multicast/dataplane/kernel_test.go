//go:build linux && !purego

package dataplane_test

import (
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/multicast/dataplane"
)

// TestKernelDrops sends more packets to a node than its socket's buffer holds, before it runs.
// The system counts those that were dropped.
func TestKernelDrops(t *testing.T) {
	neighbor, at := plug(t, "udp4")
	n, err := dataplane.Open(dataplane.Config{
		Node:    dataplane.NodeConfig{Name: "a", Listen: anywhere, Neighbors: []dataplane.Neighbor{{Address: at}}},
		Router:  routed(onward),
		Options: dataplane.Options{Buffer: 8192},
	})
	if err != nil {
		t.Fatal(err)
	}
	const packets = 100 // fewer than the system queues before it delivers them to sockets
	for range packets {
		send(t, neighbor, n.Config().Listen, strings.Repeat("x", 1000))
	}
	await(t, n, func(c dataplane.Counters) bool { return c.KernelDrops > 0 })
	stop := runAll(t, []*dataplane.Node{n})
	await(t, n, func(c dataplane.Counters) bool { return c.Received+c.KernelDrops == packets })
	dropped := n.Counters().KernelDrops
	stop()
	if c := n.Counters(); c.KernelDrops != dropped || c.Received == 0 {
		t.Errorf("a closed node counts %d drops and %d packets, want %d drops of %d packets", c.KernelDrops, c.Received, dropped, packets)
	}
}
