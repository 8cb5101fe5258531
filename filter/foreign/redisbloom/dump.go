package redisbloom

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
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

// parseHeader returns the filter that a header describes, without its bits. It allocates in
// proportion to the header. The error wraps umbel.ErrCorrupt, errors.ErrUnsupported or, if the
// bits of the layers exceed the given bytes, umbel.ErrLimit.
func parseHeader(b []byte, maxBytes uint64) (*Filter, error) {
	if len(b) < headBytes+layerBytes || (len(b)-headBytes)%layerBytes != 0 {
		return nil, fmt.Errorf("redisbloom: a header of %d bytes, want %d and %d for each layer: %w", len(b), headBytes, layerBytes, errBadData)
	}
	le := binary.LittleEndian
	size, n := le.Uint64(b), le.Uint32(b[8:])
	if there := (len(b) - headBytes) / layerBytes; uint64(n) != uint64(there) {
		return nil, fmt.Errorf("redisbloom: a header with %d layers says that it has %d: %w", there, n, errBadData)
	}
	f := withLayers(int(n))
	f.hasher, f.flags, f.expansion = RedisHasher, flags(le.Uint32(b[12:])), le.Uint32(b[16:])
	var bytes, over uint64
	for i := range f.layers {
		l, err := parseLayer(b[headBytes+i*layerBytes:])
		if err != nil {
			return nil, fmt.Errorf("layer %d: %w: %w", i, err, errBadData)
		}
		f.layers[i] = l
		bytes, over = bits.Add64(bytes, l.bits/8, 0)
		if over != 0 || bytes > maxBytes {
			return nil, sentinel.Errorf(umbel.ErrLimit, "redisbloom: the first %d of %d layers have more than %d bytes", i+1, n, maxBytes)
		}
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", err, errBadData)
	}
	if sum, _ := f.items(); sum != size {
		return nil, fmt.Errorf("redisbloom: a filter of %d items with layers of %d: %w", size, sum, errBadData)
	}
	f.maxBytes = growthRoom(bytes)
	return f, nil
}

// parseLayer reads the part of a header about one layer.
func parseLayer(b []byte) (layer, error) {
	le := binary.LittleEndian
	var l layer
	bytes := le.Uint64(b)
	l.bits = le.Uint64(b[8:])
	l.entries = le.Uint64(b[16:])
	l.rate = math.Float64frombits(le.Uint64(b[24:]))
	l.bitsPerKey = math.Float64frombits(le.Uint64(b[32:]))
	l.k = int32(min(le.Uint32(b[40:]), maxK+1))
	l.capacity = le.Uint64(b[44:])
	l.n2 = b[52]
	if l.bits%8 != 0 || l.bits/8 != bytes {
		return l, fmt.Errorf("redisbloom: %d bits in %d bytes", l.bits, bytes)
	}
	return l, l.check()
}

// flags are the options in a dump's header.
type flags uint32

const (
	noRound    flags = 1 // bits aren't rounded up to a power of two
	entsIsBits flags = 2 // capacities are given in bits
	force64    flags = 4 // the hash has 64 bits
	noScaling  flags = 8 // no layer but the first
	allFlags         = noRound | entsIsBits | force64 | noScaling
	scaling          = noRound | force64
	nonScaling       = noRound | force64 | noScaling
)

func (o flags) fixed() bool { return o&noScaling != 0 }

// check returns an error if filters with these flags are unknown. It wraps
// errors.ErrUnsupported if RedisBloom knows them.
func (o flags) check() error {
	switch {
	case o&^allFlags != 0:
		return fmt.Errorf("redisbloom: options %d, want those of %d", o, allFlags)
	case o&force64 == 0 || o&entsIsBits != 0:
		return sentinel.Errorf(errors.ErrUnsupported, "redisbloom: options %d: a filter with a hash of 32 bits, or with capacities in bits", o)
	}
	return nil
}

// chunkBytes is the maximum length of a chunk. A chunk contains bytes of one layer.
const chunkBytes = 16 << 20

// ScanDump returns what BF.SCANDUMP returns. For iter 0, data is the header and next is 1.
// For iter 1 + n, data is at most 16 MiB from byte n of all layers on, within one layer, and
// next is the following iter. For iter below 0 or after the last byte, next is 0 and data is
// empty. To load a chunk, pass its data and next to BF.LOADCHUNK. The caller owns data.
//
// The error wraps umbel.ErrMismatch if the hasher is not [RedisHasher], because RedisBloom
// would not find the keys, and umbel.ErrGoal for the zero Filter.
func (f *Filter) ScanDump(iter int64) (next int64, data []byte, err error) {
	if err := f.dumps(); err != nil {
		return 0, nil, err
	}
	next, data = f.scanDump(iter)
	return next, data, nil
}

// Chunks returns the filter as pairs of arguments for BF.LOADCHUNK, the header first. The
// filter must not change meanwhile. The error is that of ScanDump.
//
//	for iter, data := range chunks {
//		conn.Do("BF.LOADCHUNK", key, iter, data)
//	}
func (f *Filter) Chunks() (iter.Seq2[int64, []byte], error) {
	if err := f.dumps(); err != nil {
		return nil, err
	}
	return func(yield func(int64, []byte) bool) {
		for next, data := f.scanDump(0); next != 0; next, data = f.scanDump(next) {
			if !yield(next, data) {
				return
			}
		}
	}, nil
}

func (f *Filter) dumps() error {
	if len(f.layers) == 0 {
		return sentinel.Errorf(umbel.ErrGoal, "redisbloom: a zero Filter has no dump: make it with Reserve")
	}
	if f.hasher != RedisHasher {
		return sentinel.Errorf(umbel.ErrMismatch, "redisbloom: the filter hashes with %v, RedisBloom with %v", f.hasher, RedisHasher)
	}
	return nil
}

func (f *Filter) scanDump(iter int64) (int64, []byte) {
	if iter == 0 {
		return 1, f.header()
	}
	if iter < 0 {
		return 0, nil
	}
	i, from := f.locate(uint64(iter - 1))
	if i == len(f.layers) {
		return 0, nil
	}
	l := &f.layers[i]
	n := min(chunkBytes, l.bits/8-from)
	return iter + int64(n), appendBytes(make([]byte, 0, n+16), l.words(), from, n)
}

// locate returns the layer of a byte of all layers, and its index in that layer. For an index
// after the last byte it returns the number of layers.
func (f *Filter) locate(at uint64) (int, uint64) {
	for i, l := range f.layers {
		if at < l.bits/8 {
			return i, at
		}
		at -= l.bits / 8
	}
	return len(f.layers), 0
}

// appendBytes appends n bytes of words, little-endian, from byte from on.
func appendBytes(dst []byte, words []uint64, from, n uint64) []byte {
	skip, length := from%8, len(dst)
	for _, w := range words[from/8 : (from+n+7)/8] {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	if skip > 0 {
		copy(dst[length:], dst[length+int(skip):])
	}
	return dst[:length+int(n)]
}

// putBytes sets the bytes of words, little-endian, from byte at on.
func putBytes(words []uint64, at uint64, data []byte) {
	for len(data) > 0 {
		if at%8 == 0 && len(data) >= 8 {
			words[at/8] = binary.LittleEndian.Uint64(data)
			at, data = at+8, data[8:]
			continue
		}
		shift := at % 8 * 8
		words[at/8] = words[at/8]&^(0xff<<shift) | uint64(data[0])<<shift
		at, data = at+1, data[1:]
	}
}
