//go:build !noarrow

package parquet

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// column is a column of a type that arrow-go writes, and a source of its values with their texts.
type column struct {
	logical  schema.LogicalType
	physical parquet.Type
	length   int
	name     string // of the type, as umbel prints it
	draw     func(*rand.Rand) (any, string)
}

// number returns a random whole number of that many bits, often an extreme one.
func number(r *rand.Rand, bits int) int64 {
	if r.IntN(5) == 0 {
		return []int64{math.MinInt64, math.MaxInt64, math.MinInt64 + 1}[r.IntN(3)] >> (64 - bits)
	}
	if r.IntN(4) == 0 {
		return int64(r.IntN(200) - 100)
	}
	return int64(r.Uint64()) >> (64 - bits)
}

func blob(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// whole is an INT32 or INT64 with this text.
func whole(bits int, draw func(*rand.Rand) int64, text func(int64) string) func(*rand.Rand) (any, string) {
	return func(r *rand.Rand) (any, string) {
		x := draw(r)
		if bits == 64 {
			return x, text(x)
		}
		return int32(x), text(x)
	}
}

func decimal(x *big.Int, scale int) string {
	return new(big.Rat).SetFrac(x, tens(scale)).FloatString(scale)
}

func tens(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// bytesOf returns a value of bytes, and its text.
func bytesOf(draw func(*rand.Rand) ([]byte, string), fixed bool) func(*rand.Rand) (any, string) {
	return func(r *rand.Rand) (any, string) {
		b, text := draw(r)
		if fixed {
			return parquet.FixedLenByteArray(b), text
		}
		return parquet.ByteArray(b), text
	}
}

// half is the text of a number of 16 bits, which has the value that IEEE 754 gives it.
func half(bits uint16) string {
	fraction, exponent := float64(bits&0x3ff), int(bits>>10&0x1f)
	x := math.Ldexp(0x400+fraction, exponent-25)
	switch exponent {
	case 0:
		x = math.Ldexp(fraction, -24)
	case 31:
		x = math.Inf(1)
	}
	if bits>>15 != 0 {
		x = -x
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

func columns() []column {
	word := func(r *rand.Rand) ([]byte, string) {
		s := []string{"", "hex:00", "naïve", "null", " ", "-1", "@0"}[r.IntN(7)]
		if r.IntN(3) > 0 {
			s = strconv.FormatUint(r.Uint64(), 36)
		}
		return []byte(s), s
	}
	document := func(r *rand.Rand) ([]byte, string) {
		s := fmt.Sprintf(`{"n": %d}`, r.Uint64())
		return []byte(s), s
	}
	raw := func(n int) func(*rand.Rand) ([]byte, string) {
		return func(r *rand.Rand) ([]byte, string) {
			b := blob(r, n)
			return b, "hex:" + hex.EncodeToString(b)
		}
	}
	decimals := func(scale, n int) func(*rand.Rand) ([]byte, string) {
		return func(r *rand.Rand) ([]byte, string) {
			b := blob(r, n)
			x := new(big.Int).SetBytes(b)
			if b[0] >= 0x80 {
				x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*n)))
			}
			return b, decimal(x, scale)
		}
	}
	signed := func(bits int) func(*rand.Rand) int64 { return func(r *rand.Rand) int64 { return number(r, bits) } }
	day := func(r *rand.Rand) int64 { return r.Int64N(3_600_000) - 700_000 }
	small := func(r *rand.Rand) int64 { return r.Int64N(86_400_000) }
	stamp := func(perSecond int64, layout string) func(int64) string {
		return func(x int64) string {
			t := time.Unix(x/perSecond, x%perSecond*(1e9/perSecond)).UTC()
			if t.Year() < 0 || t.Year() > 9999 {
				return fmt.Sprint(x)
			}
			return t.Format(layout)
		}
	}
	types := parquet.Types
	list := []column{
		{schema.StringLogicalType{}, types.ByteArray, 0, "STRING", bytesOf(word, false)},
		{schema.EnumLogicalType{}, types.ByteArray, 0, "ENUM", bytesOf(word, false)},
		{schema.JSONLogicalType{}, types.ByteArray, 0, "JSON", bytesOf(document, false)},
		{schema.BSONLogicalType{}, types.ByteArray, 0, "BSON", bytesOf(raw(9), false)},
		{schema.NoLogicalType{}, types.ByteArray, 0, "BYTE_ARRAY", bytesOf(word, false)},
		{schema.NoLogicalType{}, types.ByteArray, 0, "BYTE_ARRAY", bytesOf(raw(9), false)},
		{schema.NoLogicalType{}, types.FixedLenByteArray, 7, "FIXED_LEN_BYTE_ARRAY(7)", bytesOf(raw(7), true)},
		{schema.IntervalLogicalType{}, types.FixedLenByteArray, 12, "INTERVAL", bytesOf(raw(12), true)},
		{schema.UUIDLogicalType{}, types.FixedLenByteArray, 16, "UUID", bytesOf(func(r *rand.Rand) ([]byte, string) {
			b := blob(r, 16)
			return b, fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
		}, true)},
		{schema.Float16LogicalType{}, types.FixedLenByteArray, 2, "FLOAT16", bytesOf(func(r *rand.Rand) ([]byte, string) {
			bits := uint16(r.Uint32())
			if bits&0x7fff > 0x7c00 || r.IntN(20) == 0 { // a NaN
				bits = uint16(r.IntN(2) << 15)
				return float16.FromBits(bits).ToLEBytes(), []string{"0", "-0"}[r.IntN(2)]
			}
			return float16.FromBits(bits).ToLEBytes(), half(bits)
		}, true)},
		{schema.NoLogicalType{}, types.Float, 0, "FLOAT", func(r *rand.Rand) (any, string) {
			x := math.Float32frombits(r.Uint32())
			if math.IsNaN(float64(x)) || r.IntN(9) == 0 {
				x = float32(math.Copysign(0, float64(r.IntN(2))-0.5))
				return x, []string{"0", "-0"}[r.IntN(2)]
			}
			return x, strconv.FormatFloat(float64(x), 'g', -1, 32)
		}},
		{schema.NoLogicalType{}, types.Double, 0, "DOUBLE", func(r *rand.Rand) (any, string) {
			x := math.Float64frombits(r.Uint64())
			if math.IsNaN(x) || r.IntN(9) == 0 {
				x = math.Copysign(0, float64(r.IntN(2))-0.5)
				return x, []string{"0", "-0"}[r.IntN(2)]
			}
			return x, strconv.FormatFloat(x, 'e', -1, 64)
		}},
		{schema.NoLogicalType{}, types.Int96, 0, "INT96", func(r *rand.Rand) (any, string) {
			var x parquet.Int96
			day := uint32(2440588 + r.IntN(40000) - 20000)
			x.SetNanoSeconds(r.Int64N(86400e9))
			binary.LittleEndian.PutUint32(x[8:], day)
			return x, x.ToTime().Format(time.RFC3339Nano)
		}},
		{schema.DateLogicalType{}, types.Int32, 0, "DATE", whole(32, day, func(x int64) string { return stamp(1, time.DateOnly)(x * 86400) })},
		{schema.NoLogicalType{}, types.Int32, 0, "INT32", whole(32, signed(32), func(x int64) string { return fmt.Sprint(x) })},
		{schema.NoLogicalType{}, types.Int64, 0, "INT64", whole(64, signed(64), func(x int64) string { return fmt.Sprint(x) })},
		{schema.NewDecimalLogicalType(9, 3), types.Int32, 0, "DECIMAL(9,3)", whole(32, signed(30), func(x int64) string { return decimal(big.NewInt(x), 3) })},
		{schema.NewDecimalLogicalType(18, 0), types.Int64, 0, "DECIMAL(18,0)", whole(64, signed(60), func(x int64) string { return decimal(big.NewInt(x), 0) })},
		{schema.NewDecimalLogicalType(38, 20), types.FixedLenByteArray, 16, "DECIMAL(38,20)", bytesOf(decimals(20, 16), true)},
		{schema.NewDecimalLogicalType(76, 76), types.FixedLenByteArray, 32, "DECIMAL(76,76)", bytesOf(decimals(76, 32), true)},
		{schema.NewDecimalLogicalType(20, 4), types.ByteArray, 0, "DECIMAL(20,4)", bytesOf(func(r *rand.Rand) ([]byte, string) {
			b, text := decimals(4, 1+r.IntN(9))(r)
			pad := byte(int8(b[0]) >> 7)
			return append([]byte(strings.Repeat(string([]byte{pad}), r.IntN(5))), b...), text
		}, false)},
	}
	for _, bits := range []int{8, 16, 32, 64} {
		physical, width := types.Int32, 32
		if bits == 64 {
			physical, width = types.Int64, 64
		}
		list = append(list, column{schema.NewIntLogicalType(int8(bits), true), physical, 0, fmt.Sprintf("INT%d", bits),
			whole(width, signed(bits), func(x int64) string { return fmt.Sprint(x) })})
		list = append(list, column{schema.NewIntLogicalType(int8(bits), false), physical, 0, fmt.Sprintf("UINT%d", bits),
			whole(width, func(r *rand.Rand) int64 { return int64(uint64(number(r, bits)) << (64 - bits) >> (64 - bits)) },
				func(x int64) string { return fmt.Sprint(uint64(x) << (64 - bits) >> (64 - bits)) })})
	}
	for i, unit := range []schema.TimeUnitType{schema.TimeUnitMillis, schema.TimeUnitMicros, schema.TimeUnitNanos} {
		name, perSecond := []string{"MILLIS", "MICROS", "NANOS"}[i], []int64{1e3, 1e6, 1e9}[i]
		physical, width := types.Int64, 64
		if i == 0 {
			physical, width = types.Int32, 32
		}
		for _, utc := range []bool{false, true} {
			layout, zone := "2006-01-02T15:04:05.999999999", "LOCAL"
			if utc {
				layout, zone = time.RFC3339Nano, "UTC"
			}
			list = append(list,
				column{schema.NewTimeLogicalType(utc, unit), physical, 0, "TIME(" + name + ")", whole(width, small, stamp(perSecond, "15:04:05.999999999"))},
				column{schema.NewTimestampLogicalType(utc, unit), types.Int64, 0, "TIMESTAMP(" + name + "," + zone + ")", whole(64, signed(64), stamp(perSecond, layout))},
				column{schema.NewTimestampLogicalTypeForce(utc, unit), types.Int64, 0, "TIMESTAMP(" + name + "," + zone + ")", whole(64, signed(56), stamp(perSecond, layout))})
		}
	}
	return list
}
