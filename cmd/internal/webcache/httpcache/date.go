package httpcache

import (
	"strings"
	"time"
)

// dateLayouts are the three forms of a date in RFC 9110, section 5.6.7.
var dateLayouts = []string{"Mon, 02 Jan 2006 15:04:05 GMT", "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC}

// parseDate parses a date. Letters may have the wrong case (RFC 9111, section 4.2), but unlike http.ParseTime it
// refuses another zone than GMT, a wrong number of digits and doubled spaces: a cache takes those for invalid.
func parseDate(s string) (time.Time, bool) {
	if n := len(s) - len("GMT"); n > 0 && strings.EqualFold(s[n:], "GMT") {
		s = s[:n] + "GMT"
	}
	for _, layout := range dateLayouts {
		t, err := time.Parse(layout, s)
		if err != nil || !strings.EqualFold(withoutWeekday(t.Format(layout)), withoutWeekday(s)) {
			continue
		}
		// A year of two digits more than 50 years ahead is in the past century (RFC 9110, section 5.6.7).
		// time.Parse begins the century at 1969.
		if layout == dateLayouts[1] && t.Year() < time.Now().Year()-50 {
			if later := t.AddDate(100, 0, 0); !later.After(time.Now().AddDate(50, 0, 0)) {
				t = later
			}
		}
		return t.UTC(), true
	}
	return time.Time{}, false
}

// withoutWeekday returns a date after the name of the weekday, which may be the wrong one.
func withoutWeekday(s string) string {
	_, rest, _ := strings.Cut(s, " ")
	return rest
}

// singleDate parses a field that must have one value.
func singleDate(values []string) (time.Time, bool) {
	if len(values) != 1 {
		return time.Time{}, false
	}
	return parseDate(values[0])
}
