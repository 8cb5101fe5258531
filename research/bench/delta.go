package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/coding/entropy"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

const (
	deltaRow = "umbel"
	knownRow = "umbel, IDs known"
)

// deltaCase describes pairs of filters that differ in a share of their keys.
type deltaCase struct {
	path  string
	times int
	m     uint64
	k     int
	n     uint64
	churn float64
	turns int
}

// changed returns the number of different keys.
func (c deltaCase) changed() uint64 { return uint64(math.Round(float64(c.n) * c.churn)) }

const (
	paperDelta  = "messages/delta/m=320000/k=2"
	sparseDelta = "messages/delta/m=5000000/k=1"
	quietDelta  = "messages/delta/quiet"
)

// deltas returns the comparisons of updates: that of Mitzenmacher 2002, one of a sparse
// filter, and one of a large array with few changes.
func deltas(mostBytes uint64, times int) (cs []coding) {
	large := mostBytes * 8
	for _, c := range []deltaCase{
		{paperDelta, times, 320_000, 2, paperKeys, 0.05, 2},
		{sparseDelta, (times + 7) / 8, 5_000_000, 1, 100_000, 0.01, 2},
		{quietDelta, 1, large, 2, large / 14_000 * 1000, 0.0001, 2},
	} {
		cs = append(cs, coding{
			path: c.path,
			title: fmt.Sprintf("Updates of %d bits, k=%d, %s keys, of which %g %% changed, mean of %d",
				c.m, c.k, short(c.n), c.churn*100, c.times),
			make: c.pairs, coders: updaters(), unit: "changed key", units: float64(c.changed()), turns: c.turns,
			ideal: changeEntropy,
		})
	}
	return cs
}

// pairs returns the new filters, each with its old filter.
func (c deltaCase) pairs() []*message {
	ms := make([]*message, c.times)
	for i := range ms {
		first := uint64(i) * 2 * c.n
		old := newMessage(bloomWith(c.m, c.k, first, c.n).State(), nil)
		ms[i] = newMessage(bloomWith(c.m, c.k, first+c.changed(), c.n).State(), old)
	}
	return ms
}

// changeEntropy returns the bits of an ideal code that has the old array and the shares of
// its zeros and of its ones that change.
func changeEntropy(m *message) float64 {
	old, now := m.old.state.Arrays[0].Words, m.state.Arrays[0].Words
	var ones, on, off uint64
	for i, w := range old {
		ones += uint64(bits.OnesCount64(w))
		on += uint64(bits.OnesCount64(now[i] &^ w))
		off += uint64(bits.OnesCount64(w &^ now[i]))
	}
	return binaryEntropy(on, m.state.Arrays[0].Len-ones) + binaryEntropy(off, ones)
}

// updaters returns the coders of updates.
func updaters() []coder {
	cs := []coder{umbelDelta(knownRow, true), umbelDelta(deltaRow, false), umbelPacker("umbel, the whole filter", 1)}
	for _, b := range byteCoders() {
		if !slices.Contains([]string{"huff0", "fse"}, b.name) { // they cannot code an exclusive or with so few ones
			cs = append(cs, xorCoder(b))
		}
	}
	return append(cs, lists(), zstdFrom(zstd.SpeedDefault), zstdFrom(zstd.SpeedBetterCompression), zstdFrom(zstd.SpeedBestCompression))
}

// umbelDelta returns umbel's coder of deltas. If known is true, the IDs of both states are
// given, as in a program that sends a sequence of deltas; otherwise they are computed.
func umbelDelta(name string, known bool) coder {
	return coder{
		name: name,
		encode: func(dst []byte, m *message) []byte {
			var d delta.Encoder
			if known {
				d = delta.Encoder{Base: m.old.id, Result: m.id}
			}
			out, err := d.Append(dst, m.old.state, m.state)
			must(err)
			return out
		},
		decode: func(src []byte, m *message) (*message, error) {
			p := delta.Decoder{Limits: wire.NoLimits}
			if known {
				p.Base, p.Unverified = m.old.id, true
			}
			s, err := p.Apply(m.old.state, src)
			return &message{state: s}, err
		},
		head: deltaHead(),
	}
}

// deltaHead returns the bytes of a delta without its blocks.
func deltaHead() int {
	f, err := bloom.NewShape(bloom.Shape{M: 1, K: 1})
	must(err)
	out, err := delta.Append(nil, f.State(), f.State())
	must(err)
	return len(out)
}

// xorCoder returns a coder of the exclusive or of the old and the new array.
func xorCoder(b byteCoder) coder {
	var buffer []byte
	return coder{
		name: "exclusive or, " + b.name,
		encode: func(dst []byte, m *message) []byte {
			buffer = slices.Grow(buffer[:0], len(m.bytes))[:len(m.bytes)]
			combine(buffer, m.old.bytes, m.bytes)
			return b.encode(dst, buffer)
		},
		decode: func(src []byte, m *message) (*message, error) {
			out, err := b.decode(src, len(m.bytes))
			if err == nil {
				combine(out, out, m.old.bytes)
			}
			return &message{bytes: out}, err
		},
	}
}

// combine sets dst to the exclusive or of a and b. The lengths are multiples of 8.
func combine(dst, a, b []byte) {
	for i := 0; i < len(dst); i += 8 {
		binary.LittleEndian.PutUint64(dst[i:], binary.LittleEndian.Uint64(a[i:])^binary.LittleEndian.Uint64(b[i:]))
	}
}

// lists returns a coder of the positions that become zeros and those that become ones.
func lists() coder {
	list := func(dst []byte, a, b []uint64) []byte { // ones of a that are zeros of b
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
			dst = append(dst, 0, 0, 0, 0) // the length of the first list
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
