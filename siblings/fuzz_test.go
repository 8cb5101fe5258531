package siblings

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/share"
)

// What parses is written as it was read, and no age is negative.
func FuzzStamp(f *testing.F) {
	f.Add("t=1732665600123, age=250, life=10000, variant=0011223344556677", "Tue, 26 Nov 2024 23:59:59 GMT", "7")
	f.Add("t=0, age=0, life=0, variant=0", "", "")
	f.Add("t=1, age=99999999999999999999, life=1, variant=z", "x", "-1")
	f.Fuzz(func(t *testing.T, text, date, age string) {
		s, ok := parseStamp(text)
		if !ok {
			return
		}
		if again, ok := parseStamp(s.String()); !ok || again != s {
			t.Fatalf("%q is read as %v and then as %v", text, s, again)
		}
		h := http.Header{"Date": {date}, "Age": {age}}
		if got := s.ageAt(time.Unix(1732665700, 0), h); got < s.age || got > maxLifetime {
			t.Fatalf("age %v, want %v to %v", got, s.age, maxLifetime)
		}
	})
}

// Headers of origins and clients never make a lifetime negative or longer than the limit.
func FuzzHeaders(f *testing.F) {
	f.Add("max-age=10, s-maxage=\"20\", private=\"a,b\"", "Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 01 Jan 1970 00:00:10 GMT", "gzip;q=0.5, *;q=0, br")
	f.Add("max-age=99999999999999999999,,=,\"", "0", "Thursday, 01-Jan-70 00:00:00 GMT", ";q=x")
	f.Fuzz(func(t *testing.T, control, date, expires, encoding string) {
		h := http.Header{"Cache-Control": {control}, "Date": {date}, "Expires": {expires}, "Accept-Encoding": {encoding}}
		if life := lifetime(h, parseControl(h)); life < 0 || life > maxLifetime {
			t.Fatalf("lifetime %v", life)
		}
		if c := coding(h); c != identity && !accepts(h, c) {
			t.Fatalf("coding %s is not accepted", c)
		}
		for _, f := range []Freshness{FreshnessAge, FreshnessAccel, FreshnessMaxAge} {
			f.apply(h, stamp{life: 10 * time.Second, age: 3 * time.Second}, true)
		}
	})
}

// Only a description that the key has signed is accepted, with an address that has no path.
func FuzzDescription(f *testing.F) {
	key, _, err := share.NewKey("example.org/fuzz")
	if err != nil {
		f.Fatal(err)
	}
	o := Options{Key: key, Cache: &url.URL{Scheme: "http", Host: "10.0.0.1:8080"}}
	b, err := describe(&o)
	if err != nil {
		f.Fatal(err)
	}
	if u, err := openDescription(b, key.Verifier); err != nil || u.String() != "http://10.0.0.1:8080" {
		f.Fatalf("%v, %v", u, err)
	}
	f.Add(b)
	f.Add([]byte("umbel sibling 1\nexample.org/fuzz\nhttp://10.0.0.2\n\n— example.org/fuzz AAAA\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		u, err := openDescription(data, key.Verifier)
		if err == nil && u.String() != "http://10.0.0.1:8080" {
			t.Fatalf("an unsigned description names %v", u)
		}
	})
}
