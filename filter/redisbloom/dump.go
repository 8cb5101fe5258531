package redisbloom

import (
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/umbel-filters/umbel"
)

// chunkBytes is the most that a chunk has; layers share none.
const chunkBytes = 16 << 20

// ScanDump returns what BF.SCANDUMP does: for iter 0 the header, with next 1, and
// for iter 1 + n the bytes of all layers in a row from byte n on, at most 16 MiB and
// none of a second layer, with the iter that follows. Below 0 and behind the last
// byte it is 0 and no data. Every chunk is loaded with BF.LOADCHUNK and the next that
// came with it. The data is the caller's.
//
// The error wraps umbel.ErrMismatch if the filter doesn't hash with [RedisHasher]:
// no RedisBloom would find its keys. It wraps umbel.ErrGoal for the zero Filter.
func (f *Filter) ScanDump(iter int64) (next int64, data []byte, err error) {
	if err := f.dumps(); err != nil {
		return 0, nil, err
	}
	next, data = f.scanDump(iter)
	return next, data, nil
}

// Chunks returns the filter as pairs of arguments for BF.LOADCHUNK, first the
// header. The filter must not change meanwhile. The error is that of ScanDump.
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
		return fmt.Errorf("redisbloom: a zero Filter has no dump: make it with Reserve: %w", umbel.ErrGoal)
	}
	if f.hasher != RedisHasher {
		return fmt.Errorf("redisbloom: the filter hashes with %v, RedisBloom with %v: %w", f.hasher, RedisHasher, umbel.ErrMismatch)
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
	return iter + int64(n), appendBytes(make([]byte, 0, n+16), l.cells.Words, from, n)
}

// locate returns the layer in which a byte of all layers in a row is, and its place
// there; behind the last byte, the number of layers.
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
