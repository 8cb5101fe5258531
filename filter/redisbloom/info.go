package redisbloom

import (
	"fmt"
	"math"
	"strconv"
)

// Info is what BF.INFO tells.
type Info struct {
	Capacity  uint64 // keys that all layers are made for
	Size      uint64 // bytes, as RedisBloom counts its own
	Filters   int    // layers
	Items     uint64 // additions that changed the filter, at most 2^64 - 1
	Expansion uint32 // growth of layers; 0, which BF.INFO shows as null, if it doesn't scale
}

// Info returns what BF.INFO tells of the filter. It takes no time.
func (f *Filter) Info() Info {
	info := Info{Size: 32 + 64*uint64(len(f.layers)) + f.bytes(), Filters: len(f.layers), Items: f.Card(), Expansion: f.expansion}
	if f.flags.fixed() {
		info.Expansion = 0
	}
	for _, l := range f.layers {
		info.Capacity += min(l.capacity, math.MaxUint64-info.Capacity)
	}
	return info
}

// Card returns what BF.CARD does: the number of additions that changed the filter, at most
// 2^64 - 1. That is the number of distinct keys but for those that came as false positives;
// after a Merge it is an estimate. Stats estimates from the bits.
func (f *Filter) Card() uint64 {
	n, _ := f.items()
	return n
}

// Debug returns the lines of BF.DEBUG: the number of items, and then a line for
// each layer, oldest first.
func (f *Filter) Debug() []string {
	lines := []string{fmt.Sprintf("size:%d", f.Card())}
	for _, l := range f.layers {
		lines = append(lines, fmt.Sprintf("bytes:%d bits:%d hashes:%d hashwidth:64 capacity:%d size:%d ratio:%s",
			l.bits/8, l.bits, l.k, l.capacity, l.entries, strconv.FormatFloat(l.rate, 'g', 6, 64)))
	}
	return lines
}
