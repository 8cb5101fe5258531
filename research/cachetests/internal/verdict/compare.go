package verdict

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Difference is a test with another verdict than the recorded one.
type Difference struct {
	ID       string   `json:"id"`
	Recorded *Verdict `json:"recorded"` // nil if absent
	Now      *Verdict `json:"now"`      // nil if absent
}

// Compare returns the tests whose verdicts differ, ordered by id. Verdicts are equal if both are passes, or
// failures of the same kind, at the same request and of the same aspect: a status, a header, a body, a method, or
// whether the cache was used. The wording of texts and the values in them are not compared, since they include
// dates.
func Compare(recorded, now Verdicts) []Difference {
	ids := map[string]bool{}
	for id := range recorded {
		ids[id] = true
	}
	for id := range now {
		ids[id] = true
	}
	var list []Difference
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		d := Difference{ID: id}
		if v, ok := recorded[id]; ok {
			d.Recorded = &v
		}
		if v, ok := now[id]; ok {
			d.Now = &v
		}
		if d.Recorded == nil || d.Now == nil || !same(*d.Recorded, *d.Now) {
			list = append(list, d)
		}
	}
	return list
}

func same(a, b Verdict) bool {
	return a.Kind == b.Kind && point(a.Text) == point(b.Text) && aspect(a.Text) == aspect(b.Text)
}

var numbered = regexp.MustCompile(`(?i)\b(?:request|response) (\d+)`)

// point returns the number of the request that a text is about, "" if it names none. The published results name
// none for bodies.
func point(text string) string {
	m := numbered.FindStringSubmatch(text)
	if m == nil || aspect(text) == "body" {
		return ""
	}
	return m[1]
}

// aspect returns what a text is about: one of these words, or "cache".
func aspect(text string) string {
	lower := strings.ToLower(text)
	for _, word := range []string{"interim", "retry", "header", "status", "body", "method"} {
		if strings.Contains(lower, word) {
			return word
		}
	}
	return "cache"
}
