package siblings

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// StampHeader is the header with which a sidecar marks the responses that it passes on:
//
//	Umbel-Stamp: t=1732665600123, age=250, life=10000, variant=0011223344556677
//
// t is the time of the sidecar's clock in milliseconds since 1970, age the age of the response at this time and life its
// lifetime, both in milliseconds, and variant identifies the request headers that selected it. A cache keeps
// the header with the response and so returns it to siblings. It is needed since some caches neither send Age nor keep Date, and
// none states for which request a response was selected.
const StampHeader = "Umbel-Stamp"

// stamp is the contents of a StampHeader.
type stamp struct {
	at        time.Time
	age, life time.Duration
	variant   uint64
}

// String returns the value of the header.
func (s stamp) String() string {
	return fmt.Sprintf("t=%d, age=%d, life=%d, variant=%016x", s.at.UnixMilli(), s.age.Milliseconds(), s.life.Milliseconds(), s.variant)
}

// parseStamp returns the stamp in the value of a header.
func parseStamp(value string) (stamp, bool) {
	const names = "t,age,life,variant"
	var numbers [4]uint64
	i := 0
	for name := range strings.SplitSeq(names, ",") {
		item, rest, _ := strings.Cut(value, ", ")
		digits, ok := strings.CutPrefix(item, name+"=")
		base, bits := 10, 42 // 139 years
		if name == "variant" {
			base, bits = 16, 64
		}
		n, err := strconv.ParseUint(digits, base, bits)
		if !ok || err != nil {
			return stamp{}, false
		}
		numbers[i], value = n, rest
		i++
	}
	s := stamp{
		at:  time.UnixMilli(int64(numbers[0])),
		age: time.Duration(numbers[1]) * time.Millisecond, life: time.Duration(numbers[2]) * time.Millisecond,
		variant: numbers[3],
	}
	return s, value == "" && s.age <= maxLifetime && s.life <= maxLifetime
}

// ageAt returns the age that a stored response with header h has at a time. It is the greatest of three
// estimates, each of which is too low for some caches: the stamp, if the clock of the sibling is ahead; the
// stamp and the date, if the cache keeps the date of the origin; the header Age, if the cache doesn't count.
func (s stamp) ageAt(now time.Time, h http.Header) time.Duration {
	resident := now.Sub(s.at)
	if date, ok := parseTime(h.Get("Date")); ok {
		resident = max(resident, date.Sub(s.at))
	}
	age := s.age + min(max(resident, 0), maxLifetime) // the sum of two lifetimes doesn't overflow
	if values := h["Age"]; len(values) > 0 {
		first, _, _ := strings.Cut(values[0], ",")
		age = max(age, seconds(first))
	}
	return min(age, maxLifetime)
}

// variantOf identifies the values of the request headers that the Vary header of a response names.
func variantOf(vary []string, h http.Header) uint64 {
	sum := sha256.Sum256([]byte(Key("").Variant(vary, h)))
	return binary.BigEndian.Uint64(sum[:])
}

// Responses with longer Vary headers are not shared: what is kept of each URL is bounded.
const (
	maxVaryNames = 16
	maxVaryBytes = 256
)

// varyOf returns the names in the Vary header of a response, and false if siblings can't use them: the header
// contains *, or is too long.
func varyOf(h http.Header) ([]string, bool) {
	names := list(h["Vary"])
	bytes := 0
	for _, name := range names {
		bytes += len(name)
	}
	return names, !slices.Contains(names, "*") && len(names) <= maxVaryNames && bytes <= maxVaryBytes
}
