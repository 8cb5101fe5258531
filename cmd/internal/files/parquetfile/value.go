package parquetfile

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// encodings are the bytes that Parquet may hash for a value: its plain encoding, without the length of a byte array. A
// value has several where the type has several forms of equal values, as the two zeros of a FLOAT. A filter that
// contains none of them excludes the value, unless it is open.
type encodings struct {
	all  [][]byte
	open bool // the value has other forms, which can't be listed
}

func encoding(b []byte) encodings { return encodings{all: [][]byte{b}} }

// encode returns the encodings of a value in text form. Bytes in hexadecimal, after "hex:", are those of one
// encoding; strings and enums have no such form, since each text is a value of theirs.
func (v *valueType) encode(s string) (encodings, error) {
	digits, isHex := strings.CutPrefix(s, "hex:")
	switch {
	case v.physical == physicalBoolean:
		return encodings{}, sentinel.Errorf(errors.ErrUnsupported, "writers hash booleans differently, so a filter's answer is meaningless")
	case v.logical.member == logicalString || v.logical.member == logicalEnum:
		return encoding([]byte(s)), nil
	case isHex:
		return v.encodeHex(digits)
	case v.opaque != "":
		return encodings{}, fmt.Errorf("%q is text, and the column has %s; give the bytes as stored, as hex:…", clip(s), v.opaque)
	case v.logical.member == logicalJSON:
		return encodings{[][]byte{[]byte(s)}, true}, nil // one document has many texts
	case v.isText():
		return encoding([]byte(s)), v.wantLength(int64(len(s)))
	case v.physical == physicalInt96:
		return parseInt96(s)
	}
	switch v.logical.member {
	case logicalDecimal:
		return v.encodeDecimal(s)
	case logicalDate:
		return v.encodeNumber(parseDate(s))
	case logicalTime:
		return v.encodeNumber(parseTime(s, v.logical.unit, 8*int(v.length)))
	case logicalTimestamp:
		return v.encodeNumber(parseTimestamp(s, v.logical.unit, v.logical.utc))
	case logicalInteger:
		return v.encodeNumber(parseInteger(s, int(v.logical.bits), v.logical.signed))
	case logicalUUID:
		b, err := parseUUID(s)
		return encoding(b), err
	case logicalFloat16:
		return encodeFloat(s, 16)
	}
	if v.physical == physicalFloat || v.physical == physicalDouble {
		return encodeFloat(s, 8*int(v.length))
	}
	return v.encodeNumber(parseInteger(s, 8*int(v.length), true))
}

// encodeHex returns the bytes of digits. In a BYTE_ARRAY of text they may also be the text that begins with "hex:".
func (v *valueType) encodeHex(digits string) (encodings, error) {
	b, err := hex.DecodeString(digits)
	if err != nil {
		return encodings{}, fmt.Errorf("%q: %w", clip("hex:"+digits), err)
	}
	e := encoding(b)
	if v.physical == physicalByteArray && v.isText() {
		e.all = append(e.all, []byte("hex:"+digits))
	}
	return e, v.wantLength(int64(len(b)))
}

// wantLength returns an error unless a value may have n bytes.
func (v *valueType) wantLength(n int64) error {
	if v.physical != physicalByteArray && v.physical < int64(len(physicalNames)) && n != v.length {
		return fmt.Errorf("%d bytes, want %d; bytes may be given as hex:…", n, v.length)
	}
	return nil
}

// encodeNumber returns the plain encoding of INT32 or INT64.
func (v *valueType) encodeNumber(x int64, err error) (encodings, error) {
	if err != nil {
		return encodings{}, err
	}
	return encoding(binary.LittleEndian.AppendUint64(nil, uint64(x))[:v.length]), nil
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

// encodeFloat returns the number of 16, 32 or 64 bits that is nearest to s. Zero has two encodings.
func encodeFloat(s string, bits int) (encodings, error) {
	x, err := strconv.ParseFloat(s, max(bits, 32))
	largest := err == nil || !errors.Is(err, strconv.ErrRange)
	half := uint16(0)
	if bits == 16 && err == nil {
		half, largest = float16(x)
	}
	switch {
	case !largest:
		return encodings{}, fmt.Errorf("%q is beyond the largest number of %d bits", clip(s), bits)
	case err != nil:
		return encodings{}, fmt.Errorf("%q, want a number", clip(s))
	case math.IsNaN(x):
		return encodings{}, errors.New("NaN has many encodings, and can't be queried but as hex:…")
	}
	u := math.Float64bits(x)
	switch bits {
	case 16:
		u = uint64(half)
	case 32:
		u = uint64(math.Float32bits(float32(x)))
	}
	b := binary.LittleEndian.AppendUint64(nil, u)[:bits/8]
	if u<<(65-bits) != 0 { // all bits but the sign
		return encoding(b), nil
	}
	plus, minus := make([]byte, bits/8), make([]byte, bits/8)
	minus[len(minus)-1] = 0x80
	return encodings{all: [][]byte{plus, minus}}, nil
}

// float16 returns the number of 16 bits that is nearest to x, the even one of two, and false if x rounds to a number
// beyond the largest of 65504.
func float16(x float64) (uint16, bool) {
	sign := uint16(math.Float64bits(x) >> 48 & 0x8000)
	x = math.Abs(x)
	switch {
	case math.IsInf(x, 0):
		return sign | 0x7c00, true
	case x >= 65520:
		return 0, false
	case x < 0x1p-14: // multiples of the smallest number
		return sign | uint16(math.RoundToEven(x*0x1p24)), true
	}
	fraction, exponent := math.Frexp(x) // x = fraction * 2^exponent, fraction in [0.5, 1)
	// 11 bits of the fraction, the first of which is 1. If they round up to 12, the sum is that of the next exponent.
	return sign | uint16((exponent+13)<<10+int(math.RoundToEven(fraction*0x1p11))), true
}

func parseUUID(s string) ([]byte, error) {
	ok := len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-'
	b, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	if !ok || err != nil || len(b) != 16 {
		return nil, fmt.Errorf("%q, want a UUID like 123e4567-e89b-12d3-a456-426614174000", clip(s))
	}
	return b, nil
}
