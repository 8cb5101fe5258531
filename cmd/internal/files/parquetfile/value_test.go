package parquetfile

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func leaf(physical int64, length int64, l logical) valueType {
	return element{physical: physical, length: length, converted: -1, logical: l}.valueType(false)
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
		19: leaf(physicalFixed, 2, logical{member: logicalFloat16}), 20: leaf(physicalByteArray, 0, logical{member: logicalJSON}),
		21: leaf(physicalByteArray, 0, logical{member: logicalBSON}), 22: leaf(physicalInt32, 0, logical{member: 99}), 23: leaf(physicalFixed, 6, logical{}),
		24: leaf(physicalInt32, 0, logical{member: logicalTime, unit: millis}), 25: leaf(physicalFixed, 16, decimal(38, 10)),
	}
)

// padded are the encodings of a decimal in a BYTE_ARRAY, of n to 32 bytes.
func padded(number, pad string, n int) string {
	list := []string{number}
	for ; n < 32; n++ {
		number = pad + number
		list = append(list, number)
	}
	return strings.Join(list, " ")
}

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
		{18, "hex:0102030405060708", "0102030405060708"}, {18, "hex:01", "!1 bytes, want 8"}, {18, "-9223372036854775808", "0000000000000080"}, {18, "9223372036854775808", "!-9223372036854775808 to 9223372036854775807"},
		{4, "1970-01-01T00:00:00.000000001Z", "0100000000000000" + "8c3d2500 " + "0100b16e6bb1ffff" + "8d3d2500 " + "01004f91944e0000" + "8b3d2500"},
		{4, "1969-12-31T23:59:59Z", "0036b455944e0000" + "8b3d2500 " + "003665c4ffffffff" + "8c3d2500 " + "003603e7289d0000" + "8a3d2500"}, {4, "1970", "!timestamp"},
		{5, "0.5", "0000003f"}, {5, "1e39", "!beyond"}, {5, "0", "00000000 00000080"}, {5, "-1e-60", "00000000 00000080"}, {6, "-0", "0000000000000000 0000000000000080"}, {5, "0.1", "cdcccc3d"}, {5, "half", "!number"}, {5, "hex:0000c07f", "0000c07f"},
		{19, "12", "004a"}, {19, "-0", "0000 0080"}, {19, "0.1", "662e"}, {19, "65504", "ff7b"}, {19, "65520", "!beyond"}, {19, "1e400", "!beyond"}, {19, "-inf", "00fc"}, {19, "nan", "!NaN"}, {19, "6e-8", "0100"}, {19, "hex:004a", "004a"},
		{20, "{}", "7b7d"}, {20, "hex:7b7d", "7b7d 6865783a37623764"}, {21, "{}", "!hex:"}, {21, "hex:05", "05"}, {22, "1", "!hex:"}, {22, "hex:01000000", "01000000"}, {5, "NaN", "!NaN"}, {5, "-Inf", "000080ff"},
		{6, "1e39", "1d4a9cf487820748"}, {6, "1e400", "!beyond"},
		{7, "abc", "616263"}, {7, "hex:00ff", "00ff 6865783a30306666"}, {7, "hex:0", "!odd length"}, {7, "", ""},
		{8, "abc", "616263"}, {8, "ab", "!2 bytes, want 3"}, {23, "hex:00", "!1 bytes, want 6"}, {23, "hex:000102030405", "000102030405"}, {23, "hex:", "!0 bytes, want 6"}, {8, "hex:000102", "000102"},
		{9, "00112233-4455-6677-8899-aabbccddeeff", "00112233445566778899aabbccddeeff"}, {9, "00112233445566778899aabbccddeeff", "!UUID"}, {9, "0011223-34455-6677-8899-aabbccddeeff", "!UUID"},
		{10, "hex:00", "6865783a3030"}, {10, "Köln", "4bc3b66c6e"},
		{11, "12.5", "e2040000"}, {11, "-12.50", "1efbffff"}, {11, "12.500", "e2040000"}, {11, "12.555", "!after the point, want at most 2"}, {11, "123", "0c300000"}, {11, "21474836.47", "ffffff7f"}, {11, "21474836.48", "!doesn't fit 4 bytes"}, {11, "1e1", "!decimal number"}, {11, ".", "!decimal number"}, {11, "+1", "!decimal number"}, {11, "--1", "!decimal number"},
		{12, "-0.1", "ffff"}, {12, "999.9", "270f"},
		{13, "0", " " + padded("00", "00", 1)}, {13, "0.127", padded("7f", "00", 1)}, {13, "0.128", padded("0080", "00", 2)},
		{13, "-0.128", padded("80", "ff", 1)}, {13, "-0.129", padded("ff7f", "ff", 2)}, {13, strings.Repeat("9", 2000), "!decimal number"},
		{14, "1970-01-02", "01000000"}, {14, "1969-12-31", "ffffffff"}, {14, "-1", "ffffffff"}, {14, "1970-02-30", "!date"},
		{15, "00:00:00.000001", "0100000000000000"}, {15, "23:59:59.999999", "ff5fd71d14000000"}, {15, "0:0:0.0000001", "!time"}, {15, "00:00:00.0000001", "!whole MICROS"}, {15, "86400000000", "0060d71d14000000"}, {15, "24:00:00.000", "0060d71d14000000"}, {15, "24:00:00.001", "!time"}, {15, "-1", "ffffffffffffffff"},
		{24, "24:00:00", "005c2605"}, {24, "2147483648", "!time"},
		{16, "1970-01-01T00:00:00.000000001Z", "0100000000000000"}, {16, "1970-01-01 01:00:00+01:00", "0000000000000000"}, {16, "1970-01-01T00:00:00", "!like 2006-01-31T15:04:05.999Z"}, {16, "1677-09-21T00:12:43.145224192Z", "0000000000000080"}, {16, "2262-04-11T23:47:16.854775807Z", "ffffffffffffff7f"}, {16, "2262-04-11T23:47:16.854775808Z", "!don't fit"}, {16, "2263-01-01T00:00:00Z", "!don't fit"}, {16, "1677-01-01T00:00:00Z", "!don't fit"}, {16, "12", "0c00000000000000"},
		{17, "1969-12-31T23:59:59.999", "ffffffffffffffff"}, {17, "1970-01-01T00:00:00Z", "!timestamp"}, {17, "1970-01-01T00:00:00.0001", "!whole MILLIS"},
	} {
		e, err := types[c.typ].encode(c.value)
		var all []string
		for _, b := range e.all {
			all = append(all, fmt.Sprintf("%x", b))
		}
		got := strings.Join(all, " ")
		if err != nil {
			got = "!" + err.Error()
		}
		if says, bad := strings.CutPrefix(c.want, "!"); bad != (err != nil) || bad && !strings.Contains(got, says) || !bad && got != c.want {
			t.Errorf("%s, %q: %s, want %s", types[c.typ].name, c.value, got, c.want)
		}
	}
}

// none is an element without an older form of its logical type.
func none(physical, length int64, l logical) element {
	return element{physical: physical, length: length, converted: -1, logical: l}
}

// A type is named by its logical type, in whichever form the footer has it. A logical type that is unknown, incompatible or
// contradictory makes the values opaque: they are queried as bytes.
func TestTypeNames(t *testing.T) {
	for _, c := range []struct {
		e      element
		want   string
		opaque bool
	}{
		{element{physical: physicalInt32, converted: 17}, "INT32", false},
		{element{physical: physicalInt32, converted: 11}, "UINT8", false},
		{element{physical: physicalInt64, converted: 14}, "UINT64", false},
		{element{physical: physicalInt64, converted: 18}, "INT64", false},
		{element{physical: physicalInt64, converted: 10}, "TIMESTAMP(MICROS,UTC)", false},
		{element{physical: physicalInt64, converted: 8}, "TIME(MICROS)", false},
		{element{physical: physicalByteArray}, "STRING", false},
		{element{physical: physicalByteArray, converted: 5, scale: 2, precision: 9}, "DECIMAL(9,2)", false},
		{element{physical: physicalByteArray, converted: 20}, "BSON", true},
		{element{physical: physicalFixed, length: 12, converted: 21}, "INTERVAL", true},
		{element{physical: physicalByteArray, converted: 22}, "BYTE_ARRAY AS LOGICAL TYPE -1", true},
		{element{physical: physicalByteArray, converted: 3}, "BYTE_ARRAY AS LOGICAL TYPE 3", true},
		{none(physicalFloat, 0, logical{member: logicalDate}), "FLOAT AS LOGICAL TYPE 6", true},
		{none(physicalFixed, 15, logical{member: logicalUUID}), "FIXED_LEN_BYTE_ARRAY(15) AS LOGICAL TYPE 14", true},
		{none(physicalFixed, 3, logical{member: logicalString}), "FIXED_LEN_BYTE_ARRAY(3) AS LOGICAL TYPE 1", true},
		{none(physicalFixed, 2, logical{member: logicalFloat16}), "FLOAT16", false},
		{none(physicalInt64, 0, timestamp(4, true)), "INT64 AS LOGICAL TYPE 8", true},
		{none(physicalInt64, 0, integer(32, true)), "INT64 AS LOGICAL TYPE 10", true},
		{none(physicalInt64, 0, logical{member: 99}), "INT64 AS LOGICAL TYPE 99", true},
		{none(physicalInt32, 0, logical{member: logicalUnknown}), "UNKNOWN", true},
		{none(physicalByteArray, 0, logical{member: logicalGeometry}), "GEOMETRY", true},
		{none(physicalByteArray, 0, logical{member: logicalGeography}), "GEOGRAPHY", true},
		{none(physicalByteArray, 0, logical{}), "BYTE_ARRAY", false},
		{none(9, 0, logical{}), "TYPE 9", true},
		{none(physicalFixed, -1, logical{}), "FIXED_LEN_BYTE_ARRAY(-1)", true},
		{none(physicalFixed, math.MaxInt32+1, logical{}), "FIXED_LEN_BYTE_ARRAY(2147483648)", true},
		{element{physical: physicalInt64, converted: 9, logical: timestamp(millis, false)}, "TIMESTAMP(MILLIS,LOCAL)", false},
		{element{physical: physicalInt64, converted: 9, logical: timestamp(micros, false)}, "INT64", true},
		{element{physical: physicalInt32, converted: 11, logical: integer(8, true)}, "INT32", true},
		{element{physical: physicalInt32, converted: 5, scale: 1, precision: 9, logical: decimal(9, 2)}, "INT32", true},
		{element{physical: physicalByteArray, converted: 0, logical: logical{member: logicalJSON}}, "BYTE_ARRAY", true},
	} {
		v := c.e.valueType(false)
		if v.name != c.want || (v.opaque != "") != c.opaque {
			t.Errorf("%+v: %q, opaque for %q, want %q and %v", c.e, v.name, v.opaque, c.want, c.opaque)
		}
		_, err := v.encode("1")
		if c.opaque != (err != nil) {
			t.Errorf("%s: text: %v", v.name, err)
		}
	}
	if v := none(physicalByteArray, 0, logical{}).valueType(true); v.name != "VARIANT" || v.opaque == "" {
		t.Errorf("part of a VARIANT: %+v", v)
	}
}

// The parser of numbers of 16 bits equals a search among all of them, including ties, which are even.
func TestFloat16(t *testing.T) {
	value := func(h uint16) float64 { // exactly
		fraction, exponent := float64(h&0x3ff), int(h>>10&0x1f)
		if exponent == 0 {
			return math.Ldexp(fraction, -24)
		}
		return math.Ldexp(0x400+fraction, exponent-25)
	}
	for h := range uint16(0x7bff) {
		x, next := value(h), value(h+1)
		even := h + h&1
		for _, c := range []struct {
			x    float64
			want uint16
		}{{x, h}, {math.Nextafter((x+next)/2, 0), h}, {(x + next) / 2, even}, {math.Nextafter((x+next)/2, 1e6), h + 1}, {next, h + 1}} {
			got, ok := float16(c.x)
			minus, _ := float16(-c.x)
			if !ok || got != c.want || minus != c.want|0x8000 {
				t.Fatalf("%g: %#x and %#x, %v, want %#x", c.x, got, minus, ok, c.want)
			}
		}
	}
	if _, ok := float16(65520); ok {
		t.Error("65520 rounds to no number")
	}
	if h, ok := float16(math.Nextafter(65520, 0)); !ok || h != 0x7bff {
		t.Errorf("the largest: %#x, %v", h, ok)
	}
	if h, ok := float16(math.Inf(-1)); !ok || h != 0xfc00 {
		t.Errorf("-Inf: %#x, %v", h, ok)
	}
}

func FuzzValue(f *testing.F) {
	f.Fuzz(func(t *testing.T, typ uint, value string) {
		v := types[typ%uint(len(types))]
		e, err := v.encode(value)
		if err != nil {
			return
		}
		if len(e.all) == 0 {
			t.Errorf("%s, %q: no encoding", v.name, value)
		}
		for _, b := range e.all {
			if v.physical != physicalByteArray && int64(len(b)) != v.length {
				t.Errorf("%s, %q: %d bytes, want %d", v.name, value, len(b), v.length)
			}
		}
	})
}
