package number

import (
	"math"
	"strconv"
)

// JSON returns x as JSON: null if x is infinite or NaN, since JSON has no such numbers.
func JSON(x float64) string {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return "null"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
