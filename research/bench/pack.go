package main

import (
	"fmt"
	"math"
	"runtime"

	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/wire"
)

const (
	packedRow = "umbel"
	coresRow  = "umbel, all cores"
)

// packings returns the comparisons of packed filters: those of Mitzenmacher 2002, with the
// given number of filters each, one of many keys, large arrays for which speed can be
// measured, and counters.
func packings(mostBytes uint64, times int) (cs []coding) {
	for _, f := range paperFilters {
		cs = append(cs, coding{
			path:   paperPath(f.m, f.k),
			title:  fmt.Sprintf("Packing %d filters of %d bits, k=%d, %s keys", times, f.m, f.k, short(paperKeys)),
			make:   func() []*message { return blooms(times, f.m, f.k, paperKeys) },
			coders: packers(false), ideal: entropyOf, unit: "key", units: paperKeys, turns: 3,
		})
	}
	const many = 1e6
	if mostBytes*8 >= 14*many {
		cs = append(cs, coding{
			path:   manyPath,
			title:  fmt.Sprintf("Packing a filter of 14 bits per key, k=2, %s keys", short(many)),
			make:   func() []*message { return blooms(1, 14*many, 2, many) },
			coders: packers(true), ideal: entropyOf, unit: "key", units: many, turns: 2,
		})
	}
	for _, fill := range packedFills {
		m := mostBytes * 8
		n := uint64(math.Round(-math.Log1p(-fill) * float64(m)))
		cs = append(cs, coding{
			path:   packPath(fill),
			title:  fmt.Sprintf("Packing an array of %d KiB, fill %g", mostBytes>>10, fill),
			make:   func() []*message { return blooms(1, m, 1, n) },
			coders: packers(true), ideal: entropyOf, unit: "key", units: float64(n), turns: 2,
		})
	}
	m := mostBytes / 2
	return append(cs, coding{
		path:  counterPath,
		title: fmt.Sprintf("Packing counters of 4 bits, %d KiB, 8 per key, k=5", mostBytes>>12),
		make: func() []*message {
			f, err := counting.NewShape(counting.Shape{M: m, K: 5})
			must(err)
			addNumbered(f, 0, m/8)
			return []*message{newMessage(f.State(), nil)}
		},
		coders: packers(true), unit: "counter", units: float64(m), turns: 2,
		ideal: func(*message) float64 { return counterBits(m, 5, m/8) },
	})
}

// paperFilters contains filters of Mitzenmacher's Tables I, II and IV. The third is smaller
// than a plain filter of the same rate.
var paperFilters = []struct {
	m uint64
	k int
	// most is the target for the mean bytes of a payload: less than 2 above the entropy.
	most float64
}{{140_000, 2, 9906}, {480_000, 3, 19789}, {126_000, 2, 9479}}

const paperKeys = 10_000

// packedFills contains the fill ratios of the timed arrays.
var packedFills = []float64{0.13, 0.01, 0.001, 0.5}

const (
	manyPath    = "messages/pack/m=14000000/k=2"
	counterPath = "messages/pack/counters"
)

func paperPath(m uint64, k int) string { return fmt.Sprintf("messages/pack/m=%d/k=%d", m, k) }
func packPath(fill float64) string     { return fmt.Sprintf("messages/pack/fill=%g", fill) }

// blooms returns the given number of filters with different keys.
func blooms(times int, m uint64, k int, n uint64) []*message {
	ms := make([]*message, times)
	for i := range ms {
		ms[i] = newMessage(bloomWith(m, k, uint64(i)*n, n).State(), nil)
	}
	return ms
}

// packers returns the coders of whole filters.
func packers(cores bool) []coder {
	cs := []coder{umbelPacker(packedRow, 1)}
	if cores {
		cs = append(cs, umbelPacker(coresRow, runtime.GOMAXPROCS(0)))
	}
	for _, b := range byteCoders() {
		cs = append(cs, coder{
			name:   b.name,
			encode: func(dst []byte, m *message) []byte { return b.encode(dst, m.bytes) },
			decode: func(src []byte, m *message) (*message, error) {
				out, err := b.decode(src, len(m.bytes))
				return &message{bytes: out}, err
			},
		})
	}
	return cs
}

func umbelPacker(name string, workers int) coder {
	limits := wire.NoLimits
	limits.Workers = workers
	return coder{
		name: name,
		encode: func(dst []byte, m *message) []byte {
			out, err := wire.Packer{Workers: workers}.Append(dst, m.state)
			must(err)
			return out
		},
		decode: func(src []byte, _ *message) (*message, error) {
			s, err := wire.Parse(src, limits)
			return &message{state: s}, err
		},
		head: containerHead(),
	}
}

// containerHead returns the bytes of a container of kind bloom without its blocks.
func containerHead() int {
	f, err := bloom.NewShape(bloom.Shape{M: 1, K: 1})
	must(err)
	const block = 8 + 1 // a word and its coding
	return int(wire.Size(f.State())) - block
}

// counterBits returns the size in bits to which an ideal code compresses m counters that
// contain n keys, k counters per key: m times the entropy of a Poisson number.
func counterBits(m, k, n uint64) float64 {
	mean := float64(k) * float64(n) / float64(m)
	bits := 0.0
	for i, log := 0.0, -mean; i <= mean+12*math.Sqrt(mean)+24; i++ { // log is ln P(i)
		bits -= math.Exp(log) * log
		log += math.Log(mean / (i + 1))
	}
	return float64(m) * bits / math.Ln2
}
