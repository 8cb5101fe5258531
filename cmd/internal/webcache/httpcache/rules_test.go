package httpcache

import (
	"net/http"
	"testing"
	"time"
)

func TestDirectives(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []string
		want   func(*directives)
	}{
		{"nothing", nil, func(*directives) {}},
		{"names have no case", []string{"MaX-aGe=5, No-StOrE"}, func(d *directives) { d.maxAge, d.noStore = 5*time.Second, true }},
		{"the lesser of two", []string{"max-age=9", "max-age=3"}, func(d *directives) { d.maxAge = 3 * time.Second }},
		{"quoted number", []string{`max-age="7"`}, func(d *directives) { d.maxAge = 7 * time.Second }},
		{"leading zeros", []string{"max-age=007"}, func(d *directives) { d.maxAge = 7 * time.Second }},
		{"other quotes", []string{"max-age='7'"}, func(d *directives) { d.maxAge = 0 }},
		{"negative", []string{"max-age=-7"}, func(d *directives) { d.maxAge = 0 }},
		{"fraction", []string{"max-age=7.5"}, func(d *directives) { d.maxAge = 0 }},
		{"space after =", []string{"max-age= 7"}, func(d *directives) { d.maxAge = 0 }},
		{"space before =", []string{"max-age =7"}, func(*directives) {}},
		{"above 2^31", []string{"max-age=99999999999999999999999"}, func(d *directives) { d.maxAge = forever }},
		{"in a quoted string", []string{`x="max-age=7, no-store", s-maxage=1`}, func(d *directives) { d.sMaxAge = time.Second }},
		{"escaped quote", []string{`x="\", no-store", public`}, func(d *directives) { d.public = true }},
		{"open quote", []string{`x="no-store`}, func(*directives) {}},
		{"with an argument", []string{`no-cache="a, b", private="c"`}, func(d *directives) { d.noCache, d.private = true, true }},
		{"any staleness", []string{"max-stale"}, func(d *directives) { d.maxStale = forever }},
		{"RFC 5861", []string{"stale-while-revalidate=2, stale-if-error=3"}, func(d *directives) {
			d.staleWhileRevalidate, d.staleIfError = 2*time.Second, 3*time.Second
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := noDirectives
			c.want(&want)
			if got := parseDirectives(c.values); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

// CDN-Cache-Control is a structured field, which counts as a whole or not at all (RFC 9213).
func TestTargeted(t *testing.T) {
	for value, counts := range map[string]bool{
		"max-age=5": true, "max-age=5, foo": true, "no-store": true,
		"max-age=5, &&": false, `max-age="5"`: false, "max-age=5.0": false, "MAX-AGE=5": false, "max-age =5": false, "": false, "max-age=-1": false,
	} {
		h := http.Header{"Cdn-Cache-Control": {value}, "Cache-Control": {"max-age=1, private"}}
		if d := responseDirectives(h, true); d.targeted != counts || d.private == counts {
			t.Errorf("CDN-Cache-Control: %s: got %+v", value, d)
		}
		if d := responseDirectives(h, false); d.targeted || !d.private {
			t.Errorf("a forward proxy is no CDN, but CDN-Cache-Control: %s counts", value)
		}
	}
}

func TestDates(t *testing.T) {
	want := time.Date(2050, 8, 18, 2, 1, 18, 0, time.UTC)
	for _, s := range []string{
		"Thu, 18 Aug 2050 02:01:18 GMT", "THU, 18 AUG 2050 02:01:18 gMT", "Thursday, 18-Aug-50 02:01:18 GMT", "Thu Aug 18 02:01:18 2050",
		"Mon, 18 Aug 2050 02:01:18 GMT", // the weekday is wrong, which does not matter
	} {
		if got, ok := parseDate(s); !ok || !got.Equal(want) {
			t.Errorf("%q is %v, %v, want %v", s, got, ok, want)
		}
	}
	for _, s := range []string{
		"", "0", "-1", "Thu, 18 Aug 2050 02:01:18 UTC", "Thu, 18 Aug 2050 02:01:18 AEST", "Thu, 18 Aug 50 02:01:18 GMT", "Thu 18 Aug 2050 02:01:18 GMT",
		"Thu, 18  Aug  2050 02:01:18 GMT", "Thu, 18-Aug-2050 02:01:18 GMT", "Thu, 18 Aug 2050 02.01.18 GMT", "Thu, 18 Aug 2050 2:01:18 GMT",
		"Thu, 8 Aug 2050 02:01:18 GMT", "Foo, 18 Aug 2050 02:01:18 GMT", "Thu, 31 Feb 2050 02:01:18 GMT", "Thu, 18 Aug 2050 02:01:18 GMT ",
	} {
		if got, ok := parseDate(s); ok {
			t.Errorf("%q is %v, want an error", s, got)
		}
	}
	// 94 is not 2094: that would be more than 50 years ahead.
	if got, _ := parseDate("Sunday, 06-Nov-94 08:49:37 GMT"); got.Year() != 1994 {
		t.Errorf("the year 94 is %d, want 1994", got.Year())
	}
}

func TestAge(t *testing.T) {
	for _, c := range []struct {
		values []string
		want   time.Duration
	}{
		{nil, 0}, {[]string{"7"}, 7}, {[]string{"7, 0"}, 7}, {[]string{"0, 7"}, 0}, {[]string{"7", "0"}, 7}, {[]string{"abc"}, 0}, {[]string{"-7"}, 0},
		{[]string{"7.0"}, 0}, {[]string{"99999999999"}, forever / time.Second}, {[]string{""}, 0}, {[]string{"7;a=b"}, 0},
	} {
		if got := parseAge(c.values); got != c.want*time.Second {
			t.Errorf("Age: %q is %v, want %v", c.values, got, c.want*time.Second)
		}
	}
}

// The formulas of RFC 9111, section 4.2.3.
func TestInitialAge(t *testing.T) {
	received := time.Unix(1e9, 0)
	for _, c := range []struct{ date, age, delay, want time.Duration }{
		{0, 0, 0, 0}, {-10, 0, 0, 10}, {10, 0, 0, 0}, {0, 30, 2, 32}, {-40, 30, 2, 40},
	} {
		got := initialAge(received.Add(c.date*time.Second), c.age*time.Second, received.Add(-c.delay*time.Second), received)
		if got != c.want*time.Second {
			t.Errorf("date %d, age %d, delay %d: got %v, want %ds", c.date, c.age, c.delay, got, c.want)
		}
	}
}

func TestLifetime(t *testing.T) {
	now := time.Unix(1e9, 0).UTC()
	date := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, c := range []struct {
		name   string
		status int
		h      http.Header
		want   time.Duration
	}{
		{"nothing", 200, http.Header{}, 0},
		{"max-age", 200, http.Header{"Cache-Control": {"max-age=5"}, "Expires": {date(time.Hour)}}, 5 * time.Second},
		{"s-maxage first", 200, http.Header{"Cache-Control": {"max-age=5, s-maxage=9"}}, 9 * time.Second},
		{"Expires", 200, http.Header{"Expires": {date(time.Hour)}}, time.Hour},
		{"Expires in the past", 200, http.Header{"Expires": {date(-time.Hour)}}, 0},
		{"two Expires", 200, http.Header{"Expires": {date(time.Hour), date(time.Hour)}}, 0},
		{"invalid Expires before the heuristic", 200, http.Header{"Expires": {"0"}, "Last-Modified": {date(-time.Hour)}}, 0},
		{"heuristic", 200, http.Header{"Last-Modified": {date(-time.Hour)}}, 6 * time.Minute},
		{"heuristic, at most a day", 200, http.Header{"Last-Modified": {date(-24 * 365 * time.Hour)}}, 24 * time.Hour},
		{"no heuristic for 201", 201, http.Header{"Last-Modified": {date(-time.Hour)}}, 0},
		{"unless it is public", 599, http.Header{"Last-Modified": {date(-time.Hour)}, "Cache-Control": {"public"}}, 6 * time.Minute},
		{"CDN-Cache-Control hides Expires", 200, http.Header{"Cdn-Cache-Control": {"foo"}, "Expires": {date(time.Hour)}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.h.Set("Date", date(0))
			if got := newPolicy(c.status, c.h, responseDirectives(c.h, true), now, now).lifetime; got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestVariants(t *testing.T) {
	for _, c := range []struct {
		vary string
		a, b http.Header
		same bool
	}{
		{"Foo", http.Header{"Foo": {"1"}}, http.Header{"Foo": {"1"}, "Bar": {"2"}}, true},
		{"Foo", http.Header{"Foo": {"1"}}, http.Header{"Foo": {"2"}}, false},
		{"Foo", http.Header{"Foo": {"1"}}, http.Header{}, false},
		{"Foo", http.Header{"Foo": {""}}, http.Header{}, false},
		{"foo, BAR", http.Header{"Foo": {"1"}}, http.Header{"Foo": {"1"}}, true},
		{"Foo, Bar", http.Header{"Foo": {"1"}}, http.Header{"Bar": {"1"}}, false},
		{"Foo", http.Header{"Foo": {"1, 2"}}, http.Header{"Foo": {"1", " 2"}}, true},
		{"Foo", http.Header{"Foo": {"a,b"}}, http.Header{"Foo": {"ab"}}, false},
		{"Accept-Language", http.Header{"Accept-Language": {"en, de"}}, http.Header{"Accept-Language": {"EN,De"}}, true},
		{"Accept-Language", http.Header{"Accept-Language": {"en, de"}}, http.Header{"Accept-Language": {"de, en"}}, false},
		{"Accept-Encoding", http.Header{"Accept-Encoding": {"gzip, br"}}, http.Header{"Accept-Encoding": {"BR;q=0.9, x-gzip"}}, true},
		{"Accept-Encoding", http.Header{"Accept-Encoding": {"gzip, br"}}, http.Header{"Accept-Encoding": {"gzip, br;q=0.0"}}, false},
		{"Accept-Encoding", http.Header{"Accept-Encoding": {"gzip"}}, http.Header{}, false},
		{"Accept-Encoding", http.Header{"Accept-Encoding": {"gzip"}}, http.Header{"Accept-Encoding": {"gzip;\tq=0"}}, false},
		{"Accept-Encoding", http.Header{"Accept-Encoding": {"gzip"}}, http.Header{"Accept-Encoding": {"gzip ; q=0.5"}}, true},
		{"Accept-Encoding", http.Header{"Accept-Encoding": {"gzip"}}, http.Header{"Accept-Encoding": {"gzip;level=9"}}, false},
		{"Accept-Encoding", http.Header{"Accept-Encoding": {"gzip"}}, http.Header{"Accept-Encoding": {"gzip;q=none"}}, false},
		{"Foo", http.Header{"Foo": {`"a , b"`}}, http.Header{"Foo": {`"a,b"`}}, false},
		{"Foo", http.Header{"Foo": {`"a, b", c`}}, http.Header{"Foo": {`"a, b",c`}}, true},
		{"Foo", http.Header{"Foo": {"1"}, "Connection": {"close, foo"}}, http.Header{}, true},
		{"Foo", http.Header{"Foo": {"1"}, "Connection": {"close, foo"}}, http.Header{"Foo": {"1"}}, false},
		{"Cookie", http.Header{"Cookie": {"1"}, "Connection": {"Cookie"}}, http.Header{}, false},
		{"X-Forwarded-Host", http.Header{"X-Forwarded-Host": {"1"}}, http.Header{}, true},
		{"Cookie", http.Header{"Cookie": {"a=1, 2"}}, http.Header{"Cookie": {"a=1,2"}}, false},
	} {
		names := varyNames([]string{c.vary})
		if same := variantOf(names, c.a) == variantOf(names, c.b); same != c.same {
			t.Errorf("Vary: %s: %v and %v: got %v, want %v", c.vary, c.a, c.b, same, c.same)
		}
	}
	for _, vary := range [][]string{{"Foo Bar"}, {`"Foo"`}, {"Foo;q=1"}, {"Foo", "B\u00e4r"}, {"*"}, {"*, *"}, {", *"}, {"", "*"}, {"Foo, *"}} {
		if validVary(vary) {
			t.Errorf("Vary: %q lets other requests select the response", vary)
		}
	}
}

func TestRanges(t *testing.T) {
	for value, want := range map[string]span{
		"bytes=0-1": {0, 2}, "bytes=1-": {1, 9}, "bytes=-3": {7, 3}, "bytes=-30": {0, 10}, "BYTES = 2-99": {2, 8}, "bytes=9-9": {9, 1},
		"bytes=10-": {0, 0}, "bytes=-0": {10, 0}, "bytes=99999999999999999999999-": {0, 0},
	} {
		if got, ok := parseRange([]string{value}, 10); !ok || got != want {
			t.Errorf("%s: got %v, %v, want %v", value, got, ok, want)
		}
	}
	for _, value := range []string{"", "bytes", "bytes=", "bytes=-", "bytes=2-1", "bytes=a-b", "bytes=0-1,3-4", "items=0-1", "bytes=+1-2", "bytes=1-2-3"} {
		if got, ok := parseRange([]string{value}, 10); ok {
			t.Errorf("%s: got %v, want the whole body", value, got)
		}
	}
}

func TestTags(t *testing.T) {
	for _, c := range []struct {
		list, tag string
		want      bool
	}{
		{`"a"`, `"a"`, true}, {`W/"a"`, `"a"`, true}, {`"a"`, `W/"a"`, true}, {`"b", "a"`, `"a"`, true}, {`"b,a"`, `"a"`, false}, {`"b,a", "a"`, `"a"`, true},
		{`*`, `"a"`, true}, {`"b"`, `"a"`, false}, {``, ``, false}, {`W/`, ``, false}, {`"a`, `"a"`, false},
	} {
		if got := matchesTag([]string{c.list}, c.tag); got != c.want {
			t.Errorf("%s and %s: got %v, want %v", c.list, c.tag, got, c.want)
		}
	}
}

// No field of a response makes a rule panic, and what is fresh has a reason.
func FuzzFields(f *testing.F) {
	f.Add("max-age=5, s-maxage=\"7\"", "max-age=5", "Thu, 18 Aug 2050 02:01:18 GMT", "0, 7", "Foo, *", `W/"a", "b"`, "bytes=1-")
	f.Add("no-cache=\"a, b", "private;a=b, max-age=?1", "Thursday, 18-Aug-50 02:01:18 GMT", "-1", ",", `"`, "bytes=-0")
	f.Fuzz(func(t *testing.T, control, targeted, date, age, vary, tag, ranges string) {
		now := time.Now()
		h := http.Header{
			"Cache-Control": {control}, "Cdn-Cache-Control": {targeted}, "Date": {date}, "Expires": {date}, "Last-Modified": {date}, "Age": {age},
			"Vary": {vary}, "Etag": {tag}, "If-None-Match": {tag}, "If-Range": {tag}, "Range": {ranges},
		}
		d := responseDirectives(h, true)
		p := newPolicy(200, h, d, now, now)
		if p.lifetime < 0 || p.lifetime > forever || p.initialAge < 0 || p.initialAge > 2*forever {
			t.Errorf("lifetime %v, age %v", p.lifetime, p.initialAge)
		}
		if storable(false, &noDirectives, 200, h, &d, &p) && (d.private || d.noStore && !d.mustUnderstand) {
			t.Errorf("%v is stored", h)
		}
		variantOf(varyNames(h["Vary"]), h)
		notModified(h, &p)
		rangeApplies(h, &p)
		if s, ok := parseRange(h["Range"], 10); ok && (s.first < 0 || s.length < 0 || s.first+s.length > 10) {
			t.Errorf("%q: %v", ranges, s)
		}
	})
}
