// Package rdb reads and writes the payloads of DUMP and RESTORE with RedisBloom's Bloom filters, in the form of an RDB file.
package rdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc64"
	"math"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/statecode"
)

// A payload of DUMP is a module value of an RDB file:
//
//	7 | module id, 8 bytes behind 0x81 | values | 0 | RDB version, 2 bytes | CRC-64, 8 bytes
//
// The id consists of nine letters of six bits and ten bits of version. A value is a type byte and a
// number (2), 8 bytes of a double (4) or a string (5). RedisBloom's values, numbers unless stated:
//
//	items | layers n | options | expansion | n layers:
//	capacity | error rate (double) | k | bits per key (double) | bits | n2 | cells (string) | entries
const (
	// ModuleName is the type of RedisBloom's Bloom filters.
	ModuleName = "MBbloom--"

	rdbModule  = 7
	rdbVersion = 12 // of Redis 8
	rdbEnd     = 0
	rdbNumber  = 2
	rdbDouble  = 4
	rdbString  = 5
	rdbTail    = 10 // bytes: version and sum

	moduleVersion = 4
	letters       = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
)

// Errors of Parse.
var (
	ErrEnvelope = errors.New("DUMP payload version or checksum are wrong")
	ErrFormat   = errors.New("bad data format")
)

// jones is the table of CRC-64/Jones, which Redis uses with initial value 0 and without
// inversion.
var jones = sync.OnceValue(func() *crc64.Table { return crc64.MakeTable(0x95ac9329ac4bc9b5) })

func sum(b []byte) uint64 { return ^crc64.Update(^uint64(0), jones(), b) }

// moduleID returns the name and version as one number.
func moduleID() uint64 {
	var id uint64
	for i := range len(ModuleName) {
		id = id<<6 | uint64(bytes.IndexByte([]byte(letters), ModuleName[i]))
	}
	return id<<10 | moduleVersion
}

// Append appends the payload of a filter. Cells are compressed if that makes them shorter.
func Append(dst []byte, s umbel.State) []byte {
	start := len(dst)
	dst = append(dst, rdbModule, 0x81)
	dst = binary.BigEndian.AppendUint64(dst, moduleID())
	number := func(n uint64) { dst = appendLength(append(dst, rdbNumber), n) }
	double := func(f float64) {
		dst = binary.LittleEndian.AppendUint64(append(dst, rdbDouble), math.Float64bits(f))
	}
	items := uint64(0)
	for _, l := range s.Parts {
		items += l.Params.Uint("entries")
	}
	number(items)
	number(uint64(len(s.Parts)))
	number(s.Params.Uint("options"))
	number(s.Params.Uint("expansion"))
	for _, l := range s.Parts {
		rate, _ := l.Params.Get("error-rate")
		perKey, _ := l.Params.Get("bits-per-key")
		number(l.Params.Uint("capacity"))
		double(rate.Float())
		number(l.Params.Uint("k"))
		double(perKey.Float())
		number(l.Arrays[0].Len)
		number(l.Params.Uint("n2"))
		dst = appendString(append(dst, rdbString), plainBytes(l.Arrays[0].Words))
		number(l.Params.Uint("entries"))
	}
	dst = append(dst, rdbEnd)
	dst = binary.LittleEndian.AppendUint16(dst, rdbVersion)
	return binary.LittleEndian.AppendUint64(dst, sum(dst[start:]))
}

// plainBytes returns words as little-endian bytes.
func plainBytes(words []uint64) []byte {
	b := make([]byte, 8*len(words))
	statecode.PutWords(b, words)
	return b
}

// appendLength appends a number in RDB's variable-length encoding.
func appendLength(dst []byte, n uint64) []byte {
	switch {
	case n < 1<<6:
		return append(dst, byte(n))
	case n < 1<<14:
		return append(dst, 0x40|byte(n>>8), byte(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(dst, 0x80), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, 0x81), n)
}

// packable is the minimum length of compressed strings, packingSaves the minimum saving.
const packable, packingSaves = 21, 4

func appendString(dst, b []byte) []byte {
	if len(b) >= packable && len(b) < math.MaxInt32 {
		if packed, ok := lzf(nil, b, len(b)-packingSaves); ok {
			dst = appendLength(append(dst, 0xc3), uint64(len(packed)))
			return append(appendLength(dst, uint64(len(b))), packed...)
		}
	}
	return append(appendLength(dst, uint64(len(b))), b...)
}
