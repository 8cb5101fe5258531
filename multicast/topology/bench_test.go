package topology_test

import (
	"bytes"
	"testing"

	"github.com/umbel-filters/umbel/multicast/topology"
)

func BenchmarkReadTSV(b *testing.B) {
	g, err := topology.BarabasiAlbert(1000, 3, 1)
	var table bytes.Buffer
	if err := topology.WriteTSV(&table, must(b, g, err)); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(table.Len()))
	for b.Loop() {
		if _, _, err := topology.ReadTSV(bytes.NewReader(table.Bytes()), topology.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPorts(b *testing.B) {
	g, err := topology.BarabasiAlbert(1000, 3, 1)
	must(b, g, err)
	for b.Loop() {
		g.Ports()
	}
}
