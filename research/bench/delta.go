package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/umbel-filters/umbel/internal/entropy"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/wire"
)

const (
	deltaRow = "umbel"
	knownRow = "umbel, IDs known"
)

// deltaCase is a pair of filters in which a share of the keys are other ones.
type deltaCase struct {
	path  string
	times int
	m     uint64
	k     int
	n     uint64
	churn float64
	turns int
}

// changed is the number of keys that are other ones.
func (c deltaCase) changed() uint64 { return uint64(math.Round(float64(c.n) * c.churn)) }

const (
	paperDelta  = "messages/delta/m=320000/k=2"
	sparseDelta = "messages/delta/m=5000000/k=1"
	quietDelta  = "messages/delta/quiet"
)

// deltas are the comparisons of updates: that of Mitzenmacher 2002, one of a sparse
// filter, and one of a large plane in which nearly nothing has changed.
func deltas(mostBytes uint64, times int) (cs []coding) {
	large := mostBytes * 8
	for _, c := range []deltaCase{
		{paperDelta, times, 320_000, 2, paperKeys, 0.05, 2},
		{sparseDelta, (times + 7) / 8, 5_000_000, 1, 100_000, 0.01, 2},
		{quietDelta, 1, large, 2, large / 14_000 * 1000, 0.0001, 2},
	} {
		cs = append(cs, coding{
			path: c.path,
			title: fmt.Sprintf("Updates of %d bits, k=%d, %s keys, of which %g %% are other ones, mean of %d",
				c.m, c.k, short(c.n), c.churn*100, c.times),
			make: c.pairs, coders: updaters(), unit: "changed key", units: float64(c.changed()), turns: c.turns,
			ideal: changeEntropy,
		})
	}
	return cs
}

// pairs returns the new filters with the old ones.
func (c deltaCase) pairs() []*message {
	ms := make([]*message, c.times)
	for i := range ms {
		first := uint64(i) * 2 * c.n
		old := newMessage(bloomWith(c.m, c.k, first, c.n).State(), nil)
		ms[i] = newMessage(bloomWith(c.m, c.k, first+c.changed(), c.n).State(), old)
	}
	return ms
}

// changeEntropy returns the bits of an ideal code that has the old plane, and knows what
// shares of its zeros and of its ones change.
func changeEntropy(m *message) float64 {
	was, is := m.old.state.Arrays[0].Words, m.state.Arrays[0].Words
	var ones, on, off uint64
	for i, w := range was {
		ones += uint64(bits.OnesCount64(w))
		on += uint64(bits.OnesCount64(is[i] &^ w))
		off += uint64(bits.OnesCount64(w &^ is[i]))
	}
	return binaryEntropy(on, m.state.Arrays[0].Len-ones) + binaryEntropy(off, ones)
}

// updaters returns the coders of updates.
func updaters() []coder {
	cs := []coder{umbelDelta(knownRow, true), umbelDelta(deltaRow, false), umbelPacker("umbel, the whole filter", 1)}
	for _, b := range byteCoders() {
		if !slices.Contains([]string{"huff0", "fse"}, b.name) { // for which an exclusive or has too few ones
			cs = append(cs, xorCoder(b))
		}
	}
	return append(cs, lists(), zstdFrom(zstd.SpeedDefault), zstdFrom(zstd.SpeedBetterCompression), zstdFrom(zstd.SpeedBestCompression))
}

// umbelDelta makes deltas with what a program knows that sends one after another, or
// finds it each time.
func umbelDelta(name string, known bool) coder {
	return coder{
		name: name,
		encode: func(dst []byte, m *message) []byte {
			var d wire.Differ
			if known {
				d = wire.Differ{Base: m.old.id, Result: m.id}
			}
			out, err := d.Delta(dst, m.old.state, m.state)
			mustNot(err)
			return out
		},
		decode: func(src []byte, m *message) (*message, error) {
			p := wire.Patcher{Limits: wire.NoLimits}
			if known {
				p.Base, p.Unverified = m.old.id, true
			}
			s, err := p.Apply(m.old.state, src)
			return &message{state: s}, err
		},
		head: plan.DeltaBytes,
	}
}

// xorCoder codes the exclusive or of old and new.
func xorCoder(b byteCoder) coder {
	var room []byte
	return coder{
		name: "exclusive or, " + b.name,
		encode: func(dst []byte, m *message) []byte {
			room = slices.Grow(room[:0], len(m.plane))[:len(m.plane)]
			combine(room, m.old.plane, m.plane)
			return b.encode(dst, room)
		},
		decode: func(src []byte, m *message) (*message, error) {
			out, err := b.decode(src, len(m.plane))
			if err == nil {
				combine(out, out, m.old.plane)
			}
			return &message{plane: out}, err
		},
	}
}

// combine sets dst to the exclusive or of a and b, which are whole words.
func combine(dst, a, b []byte) {
	for i := 0; i < len(dst); i += 8 {
		binary.LittleEndian.PutUint64(dst[i:], binary.LittleEndian.Uint64(a[i:])^binary.LittleEndian.Uint64(b[i:]))
	}
}

// lists codes the positions of cells that become zeros, and of those that become ones.
func lists() coder {
	list := func(dst []byte, a, b []uint64) []byte { // of what a has and b hasn't
		only := entropy.NewBits(uint64(len(a)) * 64)
		for i := range a {
			only.Words[i] = a[i] &^ b[i]
		}
		return entropy.AppendRice(dst, only)
	}
	words := func(m *message) []uint64 { return m.state.Arrays[0].Words }
	return coder{
		name: "Rice lists of zeros and ones",
		encode: func(dst []byte, m *message) []byte {
			dst = append(dst, 0, 0, 0, 0) // the length of the first
			start := len(dst)
			dst = list(dst, words(m.old), words(m))
			binary.LittleEndian.PutUint32(dst[start-4:], uint32(len(dst)-start))
			return list(dst, words(m), words(m.old))
		},
		decode: func(src []byte, m *message) (*message, error) {
			n := binary.LittleEndian.Uint32(src)
			out := m.old.state.Clone()
			ws := out.Arrays[0].Words
			change := entropy.NewBits(uint64(len(ws)) * 64)
			for _, code := range [][]byte{src[4:][:n], src[4:][n:]} {
				if err := entropy.DecodeRice(code, change); err != nil {
					return nil, err
				}
				for i, w := range change.Words {
					ws[i] ^= w
				}
			}
			return &message{state: out}, nil
		},
	}
}
