package hop

import (
	"net/http"
	"testing"
)

func TestForwards(t *testing.T) {
	for _, c := range []struct {
		method, value, after string
		passes               bool
	}{
		{"OPTIONS", "0", "0", false}, {"TRACE", "00", "00", false}, {"OPTIONS", "1", "0", true}, {"TRACE", "10", "9", true},
		{"GET", "0", "0", true}, {"OPTIONS", "", "", true}, {"OPTIONS", "-1", "-1", true}, {"OPTIONS", "99999999999999999999", "99999999999999999999", true},
	} {
		r := &http.Request{Method: c.method, Header: http.Header{"Max-Forwards": {c.value}}}
		if got := Forwards(r); got != c.passes || r.Header.Get("Max-Forwards") != c.after {
			t.Errorf("%s with %q: %v, then %q, want %v and %q", c.method, c.value, got, r.Header.Get("Max-Forwards"), c.passes, c.after)
		}
	}
}
