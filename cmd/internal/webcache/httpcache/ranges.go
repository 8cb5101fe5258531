package httpcache

import "strings"

// span is a part of a body, from byte first, with length bytes.
type span struct{ first, length int64 }

// parseRange parses the values of Range for a body of size bytes (RFC 9110, section 14.1.2). Without ok the whole body
// is the answer: for several ranges, other units, and ranges that are not valid. A range without bytes of the body has
// length 0.
func parseRange(values []string, size int64) (s span, ok bool) {
	if len(values) != 1 {
		return span{}, false
	}
	unit, spec, _ := strings.Cut(values[0], "=")
	from, to, ok := strings.Cut(strings.Trim(spec, " \t"), "-")
	if !ok || !strings.EqualFold(strings.TrimSpace(unit), "bytes") {
		return span{}, false
	}
	first, hasFirst := offset(from)
	last, hasLast := offset(to)
	switch {
	case from == "" && hasLast: // the last bytes
		length := min(last, size)
		return span{size - length, length}, true
	case !hasFirst || to != "" && !hasLast || hasLast && last < first:
		return span{}, false
	case first >= size:
		return span{}, true
	case !hasLast || last >= size:
		last = size - 1
	}
	return span{first, last - first + 1}, true
}

// offset parses an offset of a range. Offsets above 2^62 may be returned as 2^62, which is above every size.
func offset(s string) (n int64, ok bool) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		if n < 1<<58 {
			n = n*10 + int64(s[i]-'0')
		} else {
			n = 1 << 62
		}
	}
	return n, s != ""
}
