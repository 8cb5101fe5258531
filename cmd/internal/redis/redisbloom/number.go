package redisbloom

import (
	"math"
	"strconv"
	"strings"
)

// maxFloat is the length of the longest number in bytes. Redis has no limit.
const maxFloat = 64 << 10

// parseFloat parses a number as Redis does: NaN and underflow are errors.
func parseFloat(b []byte) (float64, bool) {
	if len(b) == 0 || len(b) > maxFloat {
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
