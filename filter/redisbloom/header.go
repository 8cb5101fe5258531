package redisbloom

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel"
)

// The header of a dump, all numbers little-endian and packed:
//
//	size 8 | layers n 4 | options 4 | expansion 4 | n layers of 53 bytes each:
//	bytes 8 | bits 8 | entries 8 | error rate 8 | bits per key 8 | k 4 | capacity 8 | n2 1
//
// size is the sum of the layers' entries. The rates are IEEE 754 doubles.
const (
	headBytes  = 20
	layerBytes = 53
)

// header returns the header of the filter's dump.
func (f *Filter) header() []byte {
	le := binary.LittleEndian
	b := make([]byte, 0, headBytes+layerBytes*len(f.layers))
	b = le.AppendUint64(b, f.Card())
	b = le.AppendUint32(b, uint32(len(f.layers)))
	b = le.AppendUint32(b, uint32(f.flags))
	b = le.AppendUint32(b, f.expansion)
	for _, l := range f.layers {
		b = le.AppendUint64(b, l.bits/8)
		b = le.AppendUint64(b, l.bits)
		b = le.AppendUint64(b, l.entries)
		b = le.AppendUint64(b, math.Float64bits(l.rate))
		b = le.AppendUint64(b, math.Float64bits(l.bitsPerKey))
		b = le.AppendUint32(b, uint32(l.k))
		b = le.AppendUint64(b, l.capacity)
		b = append(b, l.n2)
	}
	return b
}

// parseHeader returns the filter that a header describes, without its bits. It
// allocates in proportion to the header. The error wraps ErrBadData, or
// errors.ErrUnsupported, or umbel.ErrLimit if the layers' bits are more than so many
// bytes.
func parseHeader(b []byte, maxBytes uint64) (*Filter, error) {
	if len(b) < headBytes+layerBytes || (len(b)-headBytes)%layerBytes != 0 {
		return nil, fmt.Errorf("redisbloom: a header of %d bytes, want %d and %d for each layer: %w", len(b), headBytes, layerBytes, ErrBadData)
	}
	le := binary.LittleEndian
	size, n := le.Uint64(b), le.Uint32(b[8:])
	if there := (len(b) - headBytes) / layerBytes; uint64(n) != uint64(there) {
		return nil, fmt.Errorf("redisbloom: a header with %d layers says that it has %d: %w", there, n, ErrBadData)
	}
	f := &Filter{hasher: RedisHasher, flags: flags(le.Uint32(b[12:])), expansion: le.Uint32(b[16:]), layers: make([]layer, n)}
	var bytes, over uint64
	for i := range f.layers {
		l, err := parseLayer(b[headBytes+i*layerBytes:])
		if err != nil {
			return nil, fmt.Errorf("layer %d: %w: %w", i, err, ErrBadData)
		}
		f.layers[i] = l
		bytes, over = bits.Add64(bytes, l.bits/8, 0)
		if over != 0 || bytes > maxBytes {
			return nil, fmt.Errorf("redisbloom: the first %d of %d layers have more than %d bytes: %w", i+1, n, maxBytes, umbel.ErrLimit)
		}
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrBadData)
	}
	if sum, _ := f.items(); sum != size {
		return nil, fmt.Errorf("redisbloom: a filter of %d items with layers of %d: %w", size, sum, ErrBadData)
	}
	f.maxBytes = growthRoom(bytes)
	return f, nil
}

// parseLayer reads what a header says of one layer.
func parseLayer(b []byte) (layer, error) {
	le := binary.LittleEndian
	var l layer
	bytes := le.Uint64(b)
	l.bits = le.Uint64(b[8:])
	l.entries = le.Uint64(b[16:])
	l.rate = math.Float64frombits(le.Uint64(b[24:]))
	l.bitsPerKey = math.Float64frombits(le.Uint64(b[32:]))
	l.k = int(min(le.Uint32(b[40:]), MaxK+1))
	l.capacity = le.Uint64(b[44:])
	l.n2 = b[52]
	if l.bits%8 != 0 || l.bits/8 != bytes {
		return l, fmt.Errorf("redisbloom: %d bits in %d bytes", l.bits, bytes)
	}
	return l, l.check()
}
