package parquetfile

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// Dates, times and timestamps are integers in Parquet: days, or units of their type. All parsers
// here also accept the integer.

const secondsPerDay = 24 * 60 * 60

// parseDate returns the days since 1970-01-01.
func parseDate(s string) (int64, error) {
	if x, err := strconv.ParseInt(s, 10, 32); err == nil {
		return x, nil
	}
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return 0, fmt.Errorf("%q, want a date like 2006-01-31, or days since 1970-01-01", clip(s))
	}
	return t.Unix() / secondsPerDay, nil // whole days, so nothing is cut off
}

// parseTime returns the units since midnight. The end of the day is 24:00:00.
func parseTime(s string, unit int16, width int) (int64, error) {
	if x, err := strconv.ParseInt(s, 10, width); err == nil {
		return x, nil
	}
	if whole, fraction, _ := strings.Cut(s, "."); whole == "24:00:00" && strings.Trim(fraction, "0") == "" {
		return unitsPerSec[unit] * secondsPerDay, nil
	}
	t, err := time.Parse("15:04:05", s)
	if err != nil {
		return 0, fmt.Errorf("%q, want a time like 15:04:05.999, or %s since midnight", clip(s), unitNames[unit])
	}
	return units(t.Unix()-midnight, t.Nanosecond(), unit)
}

// midnight is the second at which time.Parse puts 00:00:00 without a date.
var midnight = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix()

// parseTimestamp returns the units since 1970-01-01 00:00:00, in UTC or in local time.
func parseTimestamp(s string, unit int16, utc bool) (int64, error) {
	if x, err := strconv.ParseInt(s, 10, 64); err == nil {
		return x, nil
	}
	layout, example := "2006-01-02T15:04:05", "2006-01-31T15:04:05.999"
	if utc {
		layout, example = time.RFC3339, "2006-01-31T15:04:05.999Z"
	}
	t, err := time.Parse(layout, strings.Replace(s, " ", "T", 1))
	if err != nil {
		return 0, fmt.Errorf("%q, want a timestamp like %s, or %s since 1970-01-01", clip(s), example, unitNames[unit])
	}
	return units(t.Unix(), t.Nanosecond(), unit)
}

// parseInt96 returns the 12 bytes of the timestamps of older writers: nanoseconds of the day, then
// the Julian day, which here begins at midnight instead of noon. Some writers round the day up before 1970, so that the
// nanoseconds are negative; so the days before and after are encodings too.
func parseInt96(s string) (encodings, error) {
	t, err := time.Parse(time.RFC3339, strings.Replace(s, " ", "T", 1))
	if err != nil {
		return encodings{}, fmt.Errorf("%q, want a timestamp like 2006-01-31T15:04:05.999Z", clip(s))
	}
	const julian1970 = 2440588
	day, second := floorDiv(t.Unix(), secondsPerDay)
	var e encodings
	for _, more := range []int64{0, 1, -1} {
		at := (second-more*secondsPerDay)*1e9 + int64(t.Nanosecond())
		b := binary.LittleEndian.AppendUint64(nil, uint64(at))
		e.all = append(e.all, binary.LittleEndian.AppendUint32(b, uint32(day+more+julian1970)))
	}
	return e, nil
}

// units returns seconds and nanoseconds in units. It returns an error for a fraction of a unit, and
// for more than 64 bits.
func units(seconds int64, nano int, unit int16) (int64, error) {
	per := unitsPerSec[unit]
	rest := int64(1e9) / per
	if int64(nano)%rest != 0 {
		return 0, fmt.Errorf("%d nanoseconds, want whole %s", nano, unitNames[unit])
	}
	x := new(big.Int).Mul(big.NewInt(seconds), big.NewInt(per))
	if x.Add(x, big.NewInt(int64(nano)/rest)); !x.IsInt64() {
		return 0, fmt.Errorf("%s since 1970-01-01 don't fit 64 bits at that year", unitNames[unit])
	}
	return x.Int64(), nil
}

// floorDiv returns the quotient rounded down, and the nonnegative remainder.
func floorDiv(a, b int64) (int64, int64) {
	q, r := a/b, a%b
	if r < 0 {
		q, r = q-1, r+b
	}
	return q, r
}
