package parquetfile

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Physical types, by their number in parquet.thrift.
const (
	physicalBoolean = iota
	physicalInt32
	physicalInt64
	physicalInt96
	physicalFloat
	physicalDouble
	physicalByteArray
	physicalFixed
)

var physicalNames = [...]string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}

// Members of the union LogicalType. The others have the values of the physical type.
const (
	logicalString    = 1
	logicalEnum      = 4
	logicalDecimal   = 5
	logicalDate      = 6
	logicalTime      = 7
	logicalTimestamp = 8
	logicalInteger   = 10
	logicalJSON      = 12
	logicalUUID      = 14
)

// Units of times and timestamps, by their number in the union TimeUnit.
const (
	millis = 1 + iota
	micros
	nanos
)

var (
	unitNames   = [...]string{millis: "MILLIS", micros: "MICROS", nanos: "NANOS"}
	unitsPerSec = [...]int64{millis: 1e3, micros: 1e6, nanos: 1e9}
)

// valueType is the type of a column's values. It defines how a value is parsed, and which bytes
// Parquet hashes.
type valueType struct {
	name     string
	physical int
	length   int // of FIXED_LEN_BYTE_ARRAY
	logical  logical
}

// valueType returns the type of a leaf. It ignores a logical type that is unknown, or incompatible
// with the physical type.
func (e element) valueType() (valueType, error) {
	if e.physical < 0 || e.physical >= int64(len(physicalNames)) {
		return valueType{}, fmt.Errorf("physical type %d, want 0 to %d", e.physical, len(physicalNames)-1)
	}
	v := valueType{physical: int(e.physical), logical: e.logical, name: physicalNames[e.physical]}
	if v.physical == physicalFixed {
		if e.length < 0 || e.length > math.MaxInt32 {
			return valueType{}, fmt.Errorf("values of %d bytes", e.length)
		}
		v.length = int(e.length)
		v.name = fmt.Sprintf("%s(%d)", v.name, v.length)
	}
	if name := v.logicalName(); name != "" {
		v.name = name
	} else {
		v.logical = logical{}
	}
	return v, nil
}

// logicalName returns the name of the logical type, or "" if it is incompatible with the physical
// type.
func (v valueType) logicalName() string {
	l := v.logical
	small, large := v.physical == physicalInt32, v.physical == physicalInt64
	text := v.physical == physicalByteArray
	zone := "LOCAL"
	if l.utc {
		zone = "UTC"
	}
	switch l.member {
	case logicalString:
		return on(text, "STRING")
	case logicalEnum:
		return on(text, "ENUM")
	case logicalJSON:
		return on(text, "JSON")
	case logicalUUID:
		return on(v.physical == physicalFixed && v.length == 16, "UUID")
	case logicalDate:
		return on(small, "DATE")
	case logicalDecimal:
		ok := small || large || text || v.physical == physicalFixed
		return on(ok && l.precision > 0 && l.scale >= 0 && l.scale <= l.precision, fmt.Sprintf("DECIMAL(%d,%d)", l.precision, l.scale))
	case logicalTime:
		if small && l.unit == millis || large && (l.unit == micros || l.unit == nanos) {
			return fmt.Sprintf("TIME(%s)", unitNames[l.unit])
		}
	case logicalTimestamp:
		if large && l.unit >= millis && l.unit <= nanos {
			return fmt.Sprintf("TIMESTAMP(%s,%s)", unitNames[l.unit], zone)
		}
	case logicalInteger:
		fits := small && (l.bits == 8 || l.bits == 16 || l.bits == 32) || large && l.bits == 64
		if l.signed {
			return on(fits, fmt.Sprintf("INT%d", l.bits))
		}
		return on(fits, fmt.Sprintf("UINT%d", l.bits))
	}
	return ""
}

func on(ok bool, name string) string {
	if ok {
		return name
	}
	return ""
}

// convert returns the logical type of a ConvertedType. Its times and timestamps are in UTC.
func convert(converted, scale, precision int64) logical {
	integers := [...]logical{ // from 11 on
		{bits: 8}, {bits: 16}, {bits: 32}, {bits: 64},
		{bits: 8, signed: true}, {bits: 16, signed: true}, {bits: 32, signed: true}, {bits: 64, signed: true},
	}
	switch converted {
	case 0:
		return logical{member: logicalString}
	case 4:
		return logical{member: logicalEnum}
	case 5:
		return logical{member: logicalDecimal, scale: scale, precision: precision}
	case 6:
		return logical{member: logicalDate}
	case 7, 8:
		return logical{member: logicalTime, unit: int16(converted - 6), utc: true}
	case 9, 10:
		return logical{member: logicalTimestamp, unit: int16(converted - 8), utc: true}
	case 19:
		return logical{member: logicalJSON}
	}
	if i := converted - 11; i >= 0 && i < int64(len(integers)) {
		l := integers[i]
		l.member = logicalInteger
		return l
	}
	return logical{}
}

// encode returns the bytes that Parquet hashes for a value: its plain encoding, without the
// length of a byte array.
func (v valueType) encode(s string) ([]byte, error) {
	switch v.logical.member {
	case logicalDecimal:
		return v.encodeDecimal(s)
	case logicalDate:
		return v.encodeNumber(parseDate(s))
	case logicalTime:
		return v.encodeNumber(parseTime(s, v.logical.unit))
	case logicalTimestamp:
		return v.encodeNumber(parseTimestamp(s, v.logical.unit, v.logical.utc))
	case logicalInteger:
		return v.encodeNumber(parseInteger(s, int(v.logical.bits), v.logical.signed))
	case logicalUUID:
		return parseUUID(s)
	case logicalString, logicalEnum, logicalJSON:
		return []byte(s), nil
	}
	switch v.physical {
	case physicalBoolean:
		return nil, fmt.Errorf("writers hash booleans differently, so a filter's answer is meaningless: %w", errors.ErrUnsupported)
	case physicalInt32:
		return v.encodeNumber(parseInteger(s, 32, true))
	case physicalInt64:
		return v.encodeNumber(parseInteger(s, 64, true))
	case physicalInt96:
		return parseInt96(s)
	case physicalFloat:
		x, err := parseFloat(s, 32)
		return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(x))), err
	case physicalDouble:
		x, err := parseFloat(s, 64)
		return binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)), err
	}
	b := []byte(s)
	if digits, ok := strings.CutPrefix(s, "hex:"); ok {
		var err error
		if b, err = hex.DecodeString(digits); err != nil {
			return nil, fmt.Errorf("%q: %w", clip(s), err)
		}
	}
	if v.physical == physicalFixed && len(b) != v.length {
		return nil, fmt.Errorf("%q has %d bytes, want %d; bytes may be given as hex:…", clip(s), len(b), v.length)
	}
	return b, nil
}

// encodeNumber returns the plain encoding of INT32 or INT64.
func (v valueType) encodeNumber(x int64, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	if v.physical == physicalInt32 {
		return binary.LittleEndian.AppendUint32(nil, uint32(x)), nil
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(x)), nil
}

// parseInteger returns an integer of that many bits; an unsigned one as the signed integer with the
// same bits.
func parseInteger(s string, bits int, signed bool) (int64, error) {
	var x int64
	var u uint64
	var err error
	least, most := int64(-1)<<(bits-1), ^uint64(0)>>(65-bits)
	if signed {
		x, err = strconv.ParseInt(s, 10, bits)
	} else {
		least, most = 0, ^uint64(0)>>(64-bits)
		u, err = strconv.ParseUint(s, 10, bits)
		x = int64(u)
	}
	if err != nil {
		return 0, fmt.Errorf("%q, want a whole number from %d to %d", clip(s), least, most)
	}
	return x, nil
}

// parseFloat returns the number nearest to s.
func parseFloat(s string, bits int) (float64, error) {
	x, err := strconv.ParseFloat(s, bits)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%q is beyond the largest number of %d bits", clip(s), bits)
	case err != nil:
		return 0, fmt.Errorf("%q, want a number", clip(s))
	case math.IsNaN(x):
		return 0, errors.New("NaN has many encodings and can't be queried")
	}
	return x, nil
}

func parseUUID(s string) ([]byte, error) {
	ok := len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-'
	b, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	if !ok || err != nil || len(b) != 16 {
		return nil, fmt.Errorf("%q, want a UUID like 123e4567-e89b-12d3-a456-426614174000", clip(s))
	}
	return b, nil
}
