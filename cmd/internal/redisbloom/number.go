package redisbloom

import (
	"math"
	"strconv"
	"strings"
)

// parseInt parses a whole number as Redis does: without plus sign and without leading zeros.
func parseInt(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 20 || b[0] == '+' || b[0] == '0' && len(b) > 1 || b[0] == '-' && len(b) > 1 && b[1] == '0' {
		return 0, false
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	return n, err == nil
}

// parseFloat parses a number as Redis does: NaN and underflow are errors.
func parseFloat(b []byte) (float64, bool) {
	if len(b) == 0 || len(b) > 256 {
		return 0, false
	}
	s := string(b)
	f, err := strconv.ParseFloat(s, 64)
	digits, _, _ := strings.Cut(strings.ToLower(s), "e")
	vanished := f == 0 && strings.ContainsAny(digits, "123456789")
	if err != nil && !math.IsInf(f, 0) || math.IsNaN(f) || vanished || strings.Contains(s, "_") {
		return 0, false
	}
	return f, true
}
