package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/entropy"
	"github.com/umbel-filters/umbel/internal/model"
	"github.com/umbel-filters/umbel/wire"
)

// codings returns vectors of blocks with payloads.
func codings() []file { return boxes("codings", goodCodings(), badCodings()) }

const (
	arithmetic = "\x03"
	listed     = "\x04"
)

func goodCodings() []boxed {
	v := append(filledPlanes(), levelPlanes()...)
	v = append(v, counterPlanes()...)
	v = append(v,
		coded("no-state", "strings of no state, told by their levels: zeros, ones, zeros in gaps, ones in bytes",
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
		packedPlanes("mixed", "blocks that are empty, full, and coded both ways",
			joined(emptyCells(blockCells, 1), fullCells(blockCells), scattered(3, blockCells, 10), scattered(4, blockCells, 100), scattered(5, 1000, 100))),
	)
	for i := range v {
		v[i].form = formOf(v[i].bytes)
	}
	return v
}

// formOf returns how umbel writes the state that a container holds, if it is so.
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

// coded returns a vector of planes that are put together by hand.
func coded(name, comment string, planes ...string) boxed {
	return boxed{name: name, comment: comment, bytes: sealed(head, string([]byte{byte(len(planes))}), strings.Join(planes, ""), alone)}
}

// packedPlanes returns a vector of planes in which every block is as short as it gets.
func packedPlanes(name, comment string, planes ...cells.Array) boxed {
	b, err := wire.Packer{}.Append(nil, umbel.State{Kind: kind[1:], Arrays: planes})
	if err != nil {
		panic("gen: " + err.Error())
	}
	return boxed{name: name, comment: comment, bytes: b}
}

// codedPlanes returns a vector of planes whose blocks are arithmetic where that is
// shorter than raw.
func codedPlanes(name, comment string, planes ...cells.Array) boxed {
	var b strings.Builder
	for _, a := range planes {
		b.WriteString(string([]byte{byte(a.Width)}) + u64(a.Len))
		for block := range blocksIn(a) {
			if code := payloadOf(block); uint64(len(code)) < block.Bytes() {
				b.WriteString(arithmetic + payload(code))
			} else {
				b.WriteString(raw + words(block))
			}
		}
	}
	return boxed{name: name, comment: comment, bytes: sealed(head, string([]byte{byte(len(planes))}), b.String(), alone)}
}

// filledPlanes returns vectors of bits, one for each fill.
func filledPlanes() []boxed {
	var v []boxed
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
		planes := make([]cells.Array, len(lens))
		for j, n := range lens {
			planes[j] = emptyCells(n, 1)
			for at := range n {
				if rng.Uint64N(1_000_000) < ppm {
					planes[j].SetBit(at)
				}
			}
		}
		v = append(v, codedPlanes(fmt.Sprintf("fill-%06d", ppm), fmt.Sprintf("planes of %v cells, a one in each with a chance of %d in a million", lens, ppm), planes...))
	}
	return v
}

// levelPlanes returns vectors of bits in which every level comes.
func levelPlanes() []boxed {
	between := func(from, to uint64) []cells.Array {
		var planes []cells.Array
		for level := from; level <= to; level++ {
			planes = append(planes, levelPlane(level))
		}
		return planes
	}
	return []boxed{
		codedPlanes("levels-gaps", "levels 1 to 99", between(1, 99)...),
		codedPlanes("levels-bytes", "levels 100 to 181", between(100, 181)...),
		codedPlanes("levels-inverted", "levels 182 to 255", between(182, 255)...),
	}
}

// levelPlane returns a plane that is coded with a level.
func levelPlane(level uint64) cells.Array {
	s := level
	if level > 181 {
		s = 181 * (level - 181) / 74
	}
	// Where half the bits are ones, words have some to spare: raw is no shorter.
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
			panic(fmt.Sprintf("gen: no plane of %d cells has level %d", n, level))
		}
	}
}

// counterPlanes returns vectors of counters, one for each width.
func counterPlanes() []boxed {
	var v []boxed
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
		v = append(v, codedPlanes(fmt.Sprintf("counters-%d", width),
			fmt.Sprintf("counters of %d bits: three, some hundreds, most saturated, some far above the rest", width), few, many, saturated, tails))
	}
	v = append(v, codedPlanes("counters-blocks", "three blocks of counters of 64 bits, few of them set", heavy(2*blockCells/64+7)))
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

// positionsIn returns the payload of the positions of a's ones.
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
