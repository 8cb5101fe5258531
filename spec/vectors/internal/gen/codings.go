package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/coding/entropy"
	"github.com/umbel-filters/umbel/internal/coding/model"
	"github.com/umbel-filters/umbel/wire"
)

// codings returns vectors of blocks with payloads.
func codings() []file { return containerVectors("codings", goodCodings(), badCodings()) }

// Codings of a block: spec/container.md, "Block".
const (
	arithmetic = "\x03"
	listed     = "\x04"
	rare       = "\x06"
)

func goodCodings() []containerVector {
	v := append(filledArrays(), levelArrays()...)
	v = append(v, counterArrays()...)
	v = append(v,
		coded("no-state", "payloads of a level without a state: zeros, ones, zeros in gaps, ones in bytes",
			bits(1000)+arithmetic+payload("\x00"), bits(1001)+arithmetic+payload("\xb6"),
			bits(1000)+arithmetic+payload("\x01"), bits(1001)+arithmetic+payload("\xb5")),
		coded("counters-zero", "counters that are all zero: no thresholds, no strings",
			"\x04"+u64(100)+arithmetic+payload("\x00")),
		coded("positions", "none of 1000, the first, the last, all of ten, the ends of a block, the end by a large k",
			bits(1000)+listed+payload("\x00"), bits(1000)+listed+payload("\x01\x00\x01"), bits(1000)+listed+positionsOf(1000, 999),
			bits(10)+listed+payload("\x0a\x00\xff\x03"), bits(blockCells)+listed+positionsOf(blockCells, 0, blockCells-1),
			bits(1000)+listed+payload("\x01\x3f\xcf\x07"+zeros(6))),
		coded("positions-hundreds", "200 positions of 524288, and of 3000",
			bits(blockCells)+listed+positionsIn(scattered(1, blockCells, 200)), bits(3000)+listed+positionsIn(scattered(2, 3000, 200))),
		apartArrays("mixed", "blocks that are empty, full, and coded both ways",
			joined(emptyCells(blockCells, 1), fullCells(blockCells), scattered(3, blockCells, 10), scattered(4, blockCells, 100), scattered(5, 1000, 100))),
	)
	v = append(v, rareArrays()...)
	for i := range v {
		v[i].form = formOf(v[i].bytes)
	}
	return v
}

// formOf returns the form of a container: "written" if umbel writes it without a Packer,
// "packed" if it writes it with a Packer, and otherwise "other".
func formOf(b []byte) string {
	s, err := wire.Parse(b, wire.Limits{})
	if err != nil {
		panic("gen: " + err.Error())
	}
	if plain, err := wire.Append(nil, s); err == nil && bytes.Equal(plain, b) {
		return "written"
	}
	if packed, err := (wire.Packer{}).Append(nil, s); err == nil && bytes.Equal(packed, b) {
		return "packed"
	}
	return "other"
}

// coded returns a vector of arrays that are written by hand.
func coded(name, comment string, arrays ...string) containerVector {
	return containerVector{name: name, comment: comment, bytes: sealed(head, string([]byte{byte(len(arrays))}), strings.Join(arrays, ""), alone)}
}

// packedArrays returns a vector of version 1 of arrays whose blocks have the codings that a Packer chooses.
func packedArrays(name, comment string, arrays ...cells.Array) containerVector {
	fields := string([]byte{byte(len(arrays))})
	for _, a := range arrays {
		shape := string([]byte{byte(a.Width)}) + leb(a.Len)
		before := len(short(flagged(ofWidths), one, shape)) - 4
		b, err := wire.Packer{}.Append(nil, stateOf(a))
		if err != nil {
			panic("gen: " + err.Error())
		}
		fields += string([]byte{byte(a.Width)}) + u64(a.Len) + string(b[before:len(b)-4])
	}
	return containerVector{name: name, comment: comment, bytes: sealed(head, fields, alone)}
}

// apartArrays returns a vector of version 1 of arrays in which each block has the coding that is shortest for an array of this block alone.
func apartArrays(name, comment string, arrays ...cells.Array) containerVector {
	return containerVector{name: name, comment: comment, bytes: longPacked(stateOf(arrays...))}
}

// rareArrays returns vectors of runs of blocks whose cells are rarely ones.
func rareArrays() []containerVector {
	eight := emptyCells(2*blockCells/8+99, 8)
	rng := rand.New(rand.NewPCG(8, 4))
	for range 60 {
		eight.Put(rng.Uint64N(eight.Len), 1+rng.Uint64()>>rng.Uint64N(8)%255)
	}
	return []containerVector{
		packedArrays("rare", "runs of blocks with 50 ones, with fewer, and with none; an array of zeros",
			joined(scattered(7, blockCells, 50), scattered(8, blockCells, 45), emptyCells(blockCells, 1), scattered(9, 1000, 1)),
			emptyCells(2*blockCells+5, 1)),
		packedArrays("rare-between", "a full block between two runs", joined(
			scattered(10, blockCells, 300), scattered(11, blockCells, 200), fullCells(blockCells), emptyCells(blockCells, 1), scattered(12, 70, 2))),
		packedArrays("rare-counters", "runs of counters of 8 and of 64 bits", eight, heavy(2*blockCells/64+7)),
		coded("rare-short", "runs of one block, without low bits and with 31 of them",
			bits(10)+runOf(1, "\x00"), bits(10)+runOf(1, rareOf(scattered(13, 10, 3))), bits(1000)+runOf(1, "\x01\x1f\xb5\x00")),
	}
}

// runOf returns a run of blocks with a payload.
func runOf(blocks uint64, b string) string {
	return rare + string(binary.AppendUvarint(nil, blocks)) + payload(b)
}

// rareOf returns the code of the ones of an array.
func rareOf(a cells.Array) string {
	var r model.Rare
	for at := range a.Len {
		if a.Get(at) != 0 {
			r.At = append(r.At, uint32(at))
		}
	}
	var c model.Modeler
	return string(c.AppendRare(nil, r, a.Len, 1))
}

// codedArrays returns a vector of arrays whose blocks are arithmetic if that is shorter than
// raw.
func codedArrays(name, comment string, arrays ...cells.Array) containerVector {
	var b strings.Builder
	for _, a := range arrays {
		b.WriteString(string([]byte{byte(a.Width)}) + u64(a.Len))
		for block := range blocksIn(a) {
			if code := payloadOf(block); uint64(len(code)) < block.Bytes() {
				b.WriteString(arithmetic + payload(code))
			} else {
				b.WriteString(raw + words(block))
			}
		}
	}
	return containerVector{name: name, comment: comment, bytes: sealed(head, string([]byte{byte(len(arrays))}), b.String(), alone)}
}

// filledArrays returns vectors of arrays of bits: one vector for each fill ratio, in parts per million.
func filledArrays() []containerVector {
	var v []containerVector
	for i, ppm := range []uint64{10, 100, 1000, 10_000, 50_000, 130_000, 150_000, 156_000, 200_000, 300_000, 400_000, 480_000,
		540_000, 700_000, 844_000, 850_000, 950_000, 990_000, 999_000, 999_900, 999_990} {
		lens := []uint64{2, 7, 64, 100, 1000, 4099}
		switch rare := min(ppm, 1_000_000-ppm); {
		case rare <= 100:
			lens = []uint64{3, 2*blockCells + 1001}
		case rare <= 1000:
			lens = []uint64{99, blockCells - 61}
		case rare <= 10_000:
			lens = []uint64{2, 65, 30_011}
		}
		rng := rand.New(rand.NewPCG(uint64(i), 1))
		arrays := make([]cells.Array, len(lens))
		for j, n := range lens {
			arrays[j] = emptyCells(n, 1)
			for at := range n {
				if rng.Uint64N(1_000_000) < ppm {
					arrays[j].SetBit(at)
				}
			}
		}
		v = append(v, codedArrays(fmt.Sprintf("fill-%06d", ppm), fmt.Sprintf("planes of %v cells, a one in each with a chance "+
			"of %d in a million", lens, ppm), arrays...))
	}
	return v
}

// levelArrays returns vectors of arrays of bits, with an array for each level.
func levelArrays() []containerVector {
	between := func(from, to uint64) []cells.Array {
		var arrays []cells.Array
		for level := from; level <= to; level++ {
			arrays = append(arrays, levelArray(level))
		}
		return arrays
	}
	return []containerVector{
		codedArrays("levels-gaps", "levels 1 to 99", between(1, 99)...),
		codedArrays("levels-bytes", "levels 100 to 181", between(100, 181)...),
		codedArrays("levels-inverted", "levels 182 to 255", between(182, 255)...),
	}
}

// levelArray returns an array that is coded with a level, whose step is s: it is the level of a string in which a share (s/256)^2
// of the bits are ones.
func levelArray(level uint64) cells.Array {
	s := level
	if level > 181 {
		s = 181 * (level - 181) / 74
	}
	// A multiple of 64, plus 1: the spare bits of the last word make raw longer, even if half of
	// the bits are ones.
	n := min(blockCells-1, max(20<<16/(s*s), 1<<16/s))&^63 + 1
	for x := n * s * s >> 16; ; x++ {
		a := scattered(s, n, x)
		if level > 181 {
			a = inverted(a)
		}
		if code := payloadOf(a); uint64(code[0]) == level {
			return a
		}
		if x > n*s*s>>16 {
			panic(fmt.Sprintf("gen: no array of %d cells has level %d", n, level))
		}
	}
}

// counterArrays returns vectors of counters, one for each width.
func counterArrays() []containerVector {
	var v []containerVector
	for width := uint(2); width <= 64; width *= 2 {
		rng := rand.New(rand.NewPCG(uint64(width), 2))
		few, many, saturated, tails := emptyCells(3, width), emptyCells(301, width), emptyCells(99, width), emptyCells(203, width)
		few.Put(1, 1)
		for range 350 {
			many.Inc(rng.Uint64N(many.Len))
		}
		for at := range saturated.Len {
			saturated.Put(at, saturated.Limit())
		}
		for at := range tails.Len {
			tails.Put(at, rng.Uint64N(3))
			if at%8 == 0 {
				saturated.Put(at, rng.Uint64N(3))
				tails.Put(at, tails.Limit()>>rng.Uint64N(uint64(width)))
			}
			if at == saturated.Len-1 {
				break
			}
		}
		v = append(v, codedArrays(fmt.Sprintf("counters-%d", width),
			fmt.Sprintf("counters of %d bits: three, some hundreds, most saturated, some far above the rest", width), few, many, saturated, tails))
	}
	v = append(v, codedArrays("counters-blocks", "three blocks of counters of 64 bits, few of them set", heavy(2*blockCells/64+7)))
	return v
}

// payloadOf returns the arithmetic code of a block.
func payloadOf(block cells.Array) string {
	var c model.Modeler
	return string(c.Append(nil, block))
}

// payload returns a payload with its length before it.
func payload(b string) string {
	return string(binary.AppendUvarint(nil, uint64(len(b)))) + b
}

// positionsIn returns the payload that lists the positions of a's ones.
func positionsIn(a cells.Array) string {
	return payload(string(entropy.AppendRice(nil, entropy.Bits{Words: a.Words, Len: a.Len})))
}

func positionsOf(n uint64, at ...uint64) string {
	a := emptyCells(n, 1)
	for _, i := range at {
		a.SetBit(i)
	}
	return positionsIn(a)
}
