package parquetfile

import (
	"fmt"
	"math"
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

// physicalBytes is the length of a value of each physical type, 0 for the two of bytes.
var physicalBytes = [...]int64{1, 4, 8, 12, 4, 8, 0, 0}

// Members of the union LogicalType.
const (
	logicalString    = 1
	logicalMap       = 2
	logicalList      = 3
	logicalEnum      = 4
	logicalDecimal   = 5
	logicalDate      = 6
	logicalTime      = 7
	logicalTimestamp = 8
	logicalInterval  = 9 // reserved in the union; it is a converted type only
	logicalInteger   = 10
	logicalUnknown   = 11
	logicalJSON      = 12
	logicalBSON      = 13
	logicalUUID      = 14
	logicalFloat16   = 15
	logicalVariant   = 16
	logicalGeometry  = 17
	logicalGeography = 18
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
	physical int64
	length   int64 // of a value in bytes; 0 for BYTE_ARRAY
	logical  logical
	opaque   string // why values have no text form, or ""
}

// valueType returns the type of a leaf. variant states that it is part of a VARIANT. A type whose values have no text
// form here is opaque: one that is unknown, that the physical type can't have, or that the footer states in two ways.
func (e element) valueType(variant bool) valueType {
	v := valueType{physical: e.physical}
	switch {
	case e.physical >= int64(len(physicalNames)):
		v.name, v.opaque = fmt.Sprintf("TYPE %d", e.physical), "an unknown physical type"
		return v
	case e.physical == physicalFixed:
		v.name, v.length = fmt.Sprintf("%s(%d)", physicalNames[physicalFixed], e.length), e.length
		if e.length < 0 || e.length > math.MaxInt32 {
			v.opaque = "values of an impossible length"
			return v
		}
	default:
		v.name, v.length = physicalNames[e.physical], physicalBytes[e.physical]
	}
	l, ok := e.annotation()
	switch {
	case !ok:
		v.opaque = "a logical type and a converted type that contradict each other"
	case l.member != 0:
		v.annotate(l)
	case variant && v.physical == physicalByteArray:
		v.name, v.opaque = "VARIANT", "values of several types"
	}
	return v
}

// annotate sets the logical type.
func (v *valueType) annotate(l logical) {
	name, opaque := v.logicalName(l)
	if name == "" {
		v.name += fmt.Sprintf(" AS LOGICAL TYPE %d", l.member)
		v.opaque = "a logical type that is unknown, or that the physical type can't have"
		return
	}
	v.name, v.opaque, v.logical = name, opaque, l
}

// logicalName returns the name of a logical type, and why its values have no text form. The name is "" if the physical
// type can't have it.
func (v *valueType) logicalName(l logical) (name, opaque string) {
	small, large := v.physical == physicalInt32, v.physical == physicalInt64
	text := v.physical == physicalByteArray
	fixed := func(n int64) bool { return v.physical == physicalFixed && v.length == n }
	ok := false
	switch l.member {
	case logicalString:
		name, ok = "STRING", text
	case logicalEnum:
		name, ok = "ENUM", text
	case logicalJSON:
		name, ok = "JSON", text
	case logicalBSON:
		name, opaque, ok = "BSON", "documents in binary", text
	case logicalGeometry:
		name, opaque, ok = "GEOMETRY", "shapes in binary", text
	case logicalGeography:
		name, opaque, ok = "GEOGRAPHY", "shapes in binary", text
	case logicalInterval:
		name, opaque, ok = "INTERVAL", "months, days and milliseconds in binary", fixed(12)
	case logicalUnknown:
		name, opaque, ok = "UNKNOWN", "no values but null", true
	case logicalUUID:
		name, ok = "UUID", fixed(16)
	case logicalFloat16:
		name, ok = "FLOAT16", fixed(2)
	case logicalDate:
		name, ok = "DATE", small
	case logicalDecimal:
		name = fmt.Sprintf("DECIMAL(%d,%d)", l.precision, l.scale)
		ok = (small || large || text || v.physical == physicalFixed && v.length > 0) && l.precision > 0 && l.scale >= 0 && l.scale <= l.precision
	case logicalTime:
		if ok = small && l.unit == millis || large && (l.unit == micros || l.unit == nanos); ok {
			name = fmt.Sprintf("TIME(%s)", unitNames[l.unit])
		}
	case logicalTimestamp:
		zone := "LOCAL"
		if l.utc {
			zone = "UTC"
		}
		if ok = large && l.unit >= millis && l.unit <= nanos; ok {
			name = fmt.Sprintf("TIMESTAMP(%s,%s)", unitNames[l.unit], zone)
		}
	case logicalInteger:
		name = fmt.Sprintf("UINT%d", l.bits)
		if l.signed {
			name = fmt.Sprintf("INT%d", l.bits)
		}
		ok = small && (l.bits == 8 || l.bits == 16 || l.bits == 32) || large && l.bits == 64
	}
	if !ok {
		return "", ""
	}
	return name, opaque
}

// annotation returns the logical type, which the footer may state in two ways, the newer and the older one. It returns
// false if they contradict each other. Times in local time have the older form of those in UTC.
func (e element) annotation() (logical, bool) {
	if e.converted < 0 {
		return e.logical, true
	}
	older := e.convert()
	if e.logical.member == 0 {
		return older, true
	}
	older.utc = e.logical.utc
	return e.logical, e.logical == older
}

// convert returns the logical type of the ConvertedType; the member is -1 if it is unknown. Its times
// and timestamps are in UTC.
func (e element) convert() logical {
	members := [...]int16{
		0: logicalString, 1: logicalMap, 2: logicalMap, 3: logicalList, 4: logicalEnum, 5: logicalDecimal, 6: logicalDate,
		7: logicalTime, 8: logicalTime, 9: logicalTimestamp, 10: logicalTimestamp,
		11: logicalInteger, 12: logicalInteger, 13: logicalInteger, 14: logicalInteger,
		15: logicalInteger, 16: logicalInteger, 17: logicalInteger, 18: logicalInteger,
		19: logicalJSON, 20: logicalBSON, 21: logicalInterval,
	}
	if e.converted >= int64(len(members)) {
		return logical{member: -1}
	}
	l := logical{member: members[e.converted]}
	switch l.member {
	case logicalDecimal:
		l.scale, l.precision = e.scale, e.precision
	case logicalTime:
		l.unit, l.utc = int16(e.converted-6), true
	case logicalTimestamp:
		l.unit, l.utc = int16(e.converted-8), true
	case logicalInteger:
		l.bits, l.signed = 8<<((e.converted-11)%4), e.converted >= 15
	}
	return l
}

// isText reports whether the bytes of a value are those of its text.
func (v *valueType) isText() bool {
	switch v.logical.member {
	case logicalString, logicalEnum, logicalJSON:
		return true
	case 0:
		return v.opaque == "" && (v.physical == physicalByteArray || v.physical == physicalFixed)
	}
	return false
}
