package quantity

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes.
type Size uint64

// ParseSize parses a size written as 4096, 64KiB, 64K or 1.5MB, or in bits as 4096bit or 1Mbit. K, KiB,
// M, MiB and so on are powers of 1024; kB, MB, kbit, Mbit and so on are powers of 1000. Fractions of a
// byte are dropped.
func ParseSize(s string) (Size, error) {
	if n, ok := whole(s); ok {
		return Size(n), nil
	}
	end := strings.LastIndexAny(s, "0123456789.") + 1
	digits, unit := strings.TrimSpace(s[:end]), strings.TrimSpace(s[end:])
	f, ok := inUnit(digits, unit)
	prefix, small := strings.CutSuffix(unit, "b")
	switch {
	case !ok && small && len(prefix) <= 2:
		prefix = digits + asUnits(prefix)
		return 0, fmt.Errorf("size %q: write %sB for bytes, or %sbit for bits", clip(s), clip(prefix), clip(prefix))
	case !ok:
		return 0, fmt.Errorf("size %q: want a number of bytes such as 4096, 64KiB or 1.5MB, or of bits such as 4096bit", clip(s))
	case f >= 1<<64:
		return 0, fmt.Errorf("size %q is more than 2^64-1 bytes", clip(s))
	}
	return Size(f), nil
}

// asUnits returns a prefix such as g or GI as units have it: G, Gi.
func asUnits(prefix string) string {
	prefix = strings.ToUpper(prefix)
	if prefix == "K" {
		return "k"
	}
	return strings.Replace(prefix, "I", "i", 1)
}

// inUnit returns a size in bytes.
func inUnit(digits, unit string) (float64, bool) {
	perByte := 1.0
	prefix, isBits := strings.CutSuffix(unit, "bit")
	letter, isBinary := strings.CutSuffix(prefix, "i")
	switch {
	case isBits:
		perByte = 8
	case strings.HasSuffix(unit, "B"):
		letter, isBinary = strings.CutSuffix(unit[:len(unit)-1], "i")
	default: // a letter alone, as dd and du write binary sizes
		letter, isBinary = unit, true
	}
	if letter == "" {
		f, ok := number(digits, 0)
		return f / perByte, ok && !strings.HasPrefix(unit, "i")
	}
	if len(letter) != 1 {
		return 0, false
	}
	shift, ok := decimals[letter[0]]
	if !ok {
		return 0, false
	}
	if !isBinary {
		f, ok := number(digits, shift)
		return f / perByte, ok
	}
	f, ok := number(digits, 0)
	return math.Ldexp(f, shift/3*10) / perByte, ok
}

// Set is ParseSize for a flag.
func (z *Size) Set(s string) (err error) {
	*z, err = ParseSize(s)
	return err
}

// String returns the size in the largest binary unit with a value of at least 1.
func (z Size) String() string {
	if z < 1024 {
		return strconv.FormatUint(uint64(z), 10) + " B"
	}
	f, i := float64(z)/1024, 0
	for f >= 1023.5 && i < len(units)-1 {
		f, i = f/1024, i+1
	}
	return significant(f) + " " + units[i]
}

// RoundUp returns a size of at least z, at most a hundredth larger, that String prints exactly: for a
// requirement that people read.
func (z Size) RoundUp() Size {
	for up := z; ; up += z/1024 + 1 {
		printed, err := ParseSize(strings.ReplaceAll(up.String(), " ", ""))
		if err != nil || printed >= z {
			return max(printed, z)
		}
	}
}

var units = []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}

// Type names the flag's value in help texts.
func (z *Size) Type() string { return "size" }
