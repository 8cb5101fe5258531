package parquetfile

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func leaf(physical int64, length int64, l logical) valueType {
	v, err := element{physical: physical, length: length, logical: l}.valueType()
	if err != nil {
		panic(err)
	}
	return v
}

var (
	integer = func(bits int64, signed bool) logical {
		return logical{member: logicalInteger, bits: bits, signed: signed}
	}
	decimal = func(precision, scale int64) logical {
		return logical{member: logicalDecimal, precision: precision, scale: scale}
	}
	timestamp = func(unit int16, utc bool) logical { return logical{member: logicalTimestamp, unit: unit, utc: utc} }

	types = []valueType{
		0: leaf(physicalBoolean, 0, logical{}), 1: leaf(physicalInt32, 0, integer(8, true)), 2: leaf(physicalInt32, 0, integer(32, false)),
		3: leaf(physicalInt64, 0, integer(64, false)), 4: leaf(physicalInt96, 0, logical{}), 5: leaf(physicalFloat, 0, logical{}),
		6: leaf(physicalDouble, 0, logical{}), 7: leaf(physicalByteArray, 0, logical{}), 8: leaf(physicalFixed, 3, logical{}),
		9: leaf(physicalFixed, 16, logical{member: logicalUUID}), 10: leaf(physicalByteArray, 0, logical{member: logicalString}),
		11: leaf(physicalInt32, 0, decimal(4, 2)), 12: leaf(physicalFixed, 2, decimal(4, 1)), 13: leaf(physicalByteArray, 0, decimal(38, 3)),
		14: leaf(physicalInt32, 0, logical{member: logicalDate}), 15: leaf(physicalInt64, 0, logical{member: logicalTime, unit: micros}),
		16: leaf(physicalInt64, 0, timestamp(nanos, true)), 17: leaf(physicalInt64, 0, timestamp(millis, false)), 18: leaf(physicalInt64, 0, logical{}),
	}
)

func TestEncode(t *testing.T) {
	for _, c := range []struct {
		typ   int
		value string
		want  string // hexadecimal, or what the error says behind "!"
	}{
		{0, "true", "!booleans"},
		{1, "-1", "ffffffff"}, {1, "127", "7f000000"}, {1, "128", "!-128 to 127"}, {1, "1.0", "!whole number"}, {1, "", "!whole number"},
		{2, "4294967295", "ffffffff"}, {2, "-1", "!0 to 4294967295"},
		{3, "18446744073709551615", "ffffffffffffffff"}, {3, "18446744073709551616", "!0 to 18446744073709551615"},
		{18, "-9223372036854775808", "0000000000000080"}, {18, "9223372036854775808", "!-9223372036854775808 to 9223372036854775807"},
		{4, "1970-01-01T00:00:00.000000001Z", "0100000000000000" + "8c3d2500"}, {4, "1969-12-31T23:59:59Z", "0036b455944e0000" + "8b3d2500"}, {4, "1970", "!timestamp"},
		{5, "0.5", "0000003f"}, {5, "1e39", "!beyond"}, {5, "half", "!number"}, {5, "NaN", "!NaN"}, {5, "-Inf", "000080ff"},
		{6, "1e39", "1d4a9cf487820748"}, {6, "1e400", "!beyond"},
		{7, "abc", "616263"}, {7, "hex:00ff", "00ff"}, {7, "hex:0", "!odd length"}, {7, "", ""},
		{8, "abc", "616263"}, {8, "ab", "!2 bytes, want 3"}, {8, "hex:000102", "000102"},
		{9, "00112233-4455-6677-8899-aabbccddeeff", "00112233445566778899aabbccddeeff"}, {9, "00112233445566778899aabbccddeeff", "!UUID"}, {9, "0011223-34455-6677-8899-aabbccddeeff", "!UUID"},
		{10, "hex:00", "6865783a3030"}, {10, "Köln", "4bc3b66c6e"},
		{11, "12.5", "e2040000"}, {11, "-12.50", "1efbffff"}, {11, "12.500", "e2040000"}, {11, "12.555", "!after the point, want at most 2"}, {11, "123", "!before the point, want at most 2"}, {11, "1e1", "!decimal number"}, {11, ".", "!decimal number"}, {11, "+1", "!decimal number"}, {11, "--1", "!decimal number"},
		{12, "-0.1", "ffff"}, {12, "999.9", "270f"},
		{13, "0", "00"}, {13, "0.127", "7f"}, {13, "0.128", "0080"}, {13, "-0.128", "80"}, {13, "-0.129", "ff7f"}, {13, strings.Repeat("9", 2000), "!decimal number"},
		{14, "1970-01-02", "01000000"}, {14, "1969-12-31", "ffffffff"}, {14, "-1", "ffffffff"}, {14, "1970-02-30", "!date"},
		{15, "00:00:00.000001", "0100000000000000"}, {15, "23:59:59.999999", "ff5fd71d14000000"}, {15, "24:00:00", "!time"}, {15, "0:0:0.0000001", "!time"}, {15, "00:00:00.0000001", "!whole MICROS"}, {15, "86400000000", "!0 to 86399999999"},
		{16, "1970-01-01T00:00:00.000000001Z", "0100000000000000"}, {16, "1970-01-01 01:00:00+01:00", "0000000000000000"}, {16, "1970-01-01T00:00:00", "!like 2006-01-31T15:04:05.999Z"}, {16, "2263-01-01T00:00:00Z", "!don't fit"}, {16, "1677-01-01T00:00:00Z", "!don't fit"}, {16, "12", "0c00000000000000"},
		{17, "1969-12-31T23:59:59.999", "ffffffffffffffff"}, {17, "1970-01-01T00:00:00Z", "!timestamp"}, {17, "1970-01-01T00:00:00.0001", "!whole MILLIS"},
	} {
		b, err := types[c.typ].encode(c.value)
		got := fmt.Sprintf("%x", b)
		if err != nil {
			got = "!" + err.Error()
		}
		if says, bad := strings.CutPrefix(c.want, "!"); bad != (err != nil) || bad && !strings.Contains(got, says) || !bad && got != c.want {
			t.Errorf("%s, %q: %s, want %s", types[c.typ].name, c.value, got, c.want)
		}
	}
}

func TestTypeNames(t *testing.T) {
	for _, c := range []struct {
		e    element
		want string
	}{
		{element{physical: physicalInt32, logical: convert(17, 0, 0)}, "INT32"},
		{element{physical: physicalInt32, logical: convert(11, 0, 0)}, "UINT8"},
		{element{physical: physicalInt64, logical: convert(10, 0, 0)}, "TIMESTAMP(MICROS,UTC)"},
		{element{physical: physicalInt64, logical: convert(8, 0, 0)}, "TIME(MICROS)"},
		{element{physical: physicalByteArray, logical: convert(0, 0, 0)}, "STRING"},
		{element{physical: physicalByteArray, logical: convert(5, 2, 9)}, "DECIMAL(9,2)"},
		{element{physical: physicalByteArray, logical: convert(20, 0, 0)}, "BYTE_ARRAY"},                       // BSON
		{element{physical: physicalFixed, length: 12, logical: convert(21, 0, 0)}, "FIXED_LEN_BYTE_ARRAY(12)"}, // INTERVAL
		{element{physical: physicalFloat, logical: logical{member: logicalDate}}, "FLOAT"},
		{element{physical: physicalFixed, length: 15, logical: logical{member: logicalUUID}}, "FIXED_LEN_BYTE_ARRAY(15)"},
		{element{physical: physicalInt64, logical: timestamp(4, true)}, "INT64"},
		{element{physical: physicalInt64, logical: logical{member: 99}}, "INT64"},
	} {
		v, err := c.e.valueType()
		if err != nil || v.name != c.want {
			t.Errorf("%+v: %q, %v, want %q", c.e, v.name, err, c.want)
		}
	}
	for _, e := range []element{{physical: -1}, {physical: 8}, {physical: physicalFixed, length: -1}, {physical: physicalFixed, length: math.MaxInt32 + 1}} {
		if v, err := e.valueType(); err == nil {
			t.Errorf("%+v: %+v, want an error", e, v)
		}
	}
}

func FuzzValue(f *testing.F) {
	f.Fuzz(func(t *testing.T, typ uint, value string) {
		v := types[typ%uint(len(types))]
		b, err := v.encode(value)
		want := map[int]int{physicalInt32: 4, physicalInt64: 8, physicalInt96: 12, physicalFloat: 4, physicalDouble: 8, physicalByteArray: len(b), physicalFixed: v.length}
		if err == nil && len(b) != want[v.physical] {
			t.Errorf("%s, %q: %d bytes, want %d", v.name, value, len(b), want[v.physical])
		}
	})
}
