package status

import (
	"compress/gzip"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// page returns the page of a handler, and its response.
func page(h http.Handler, encodings string) (string, *http.Response) {
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept-Encoding", encodings)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	answer := w.Result()
	body := io.Reader(answer.Body)
	if answer.Header.Get("Content-Encoding") == "gzip" {
		packed, err := gzip.NewReader(body)
		if err != nil {
			return err.Error(), answer
		}
		body = packed
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return err.Error(), answer
	}
	return string(text), answer
}

// Metrics of one name are one family, wherever they are, and their labels and helps are escaped.
func TestExposition(t *testing.T) {
	h := Exposition(func() []Metric {
		return []Metric{
			Gauge("a", "First\\line.\nSecond.", math.Inf(1), "x", "a\\b\"c\nd\xff", "y", ""),
			Histogram("h", "Times.", Durations{Least: time.Second, Buckets: []uint64{1, 0, 2}, Total: 1500 * time.Millisecond}, "y", "z"),
			Counter("c", "Counts.", 1<<40),
			If("a", "Another help.", true),
		}
	}, func(w io.Writer) { _, _ = io.WriteString(w, "more 1\n") })
	const want = `# HELP a First\\line.\nSecond.
# TYPE a gauge
a{x="a\\b\"c\nd�",y=""} +Inf
a 1
# HELP h Times.
# TYPE h histogram
h_bucket{y="z",le="1"} 1
h_bucket{y="z",le="4"} 1
h_bucket{y="z",le="+Inf"} 3
h_sum{y="z"} 1.5
h_count{y="z"} 3
# HELP c Counts.
# TYPE c counter
c 1.099511627776e+12
more 1
`
	for encodings, coding := range map[string]string{"": "", "gzip": "gzip", "br, GZIP ; q=0.5": "gzip", "gzip;q=0": "", "gzip;q=x": "", "xgzip": ""} {
		got, answer := page(h, encodings)
		if got != want || answer.Header.Get("Content-Encoding") != coding {
			t.Errorf("Accept-Encoding %q: Content-Encoding %q, want %q, and\n%s", encodings, answer.Header.Get("Content-Encoding"), coding, got)
		}
	}
}

// The scrapes at the same time are bounded, and those that ended don't count.
func TestScrapesAreBounded(t *testing.T) {
	began, end := make(chan bool), make(chan bool)
	h := Exposition(func() []Metric { began <- true; <-end; return nil })
	for range 2 {
		done := make(chan int)
		for range scrapes {
			go func() {
				_, answer := page(h, "")
				done <- answer.StatusCode
			}()
		}
		for range scrapes {
			<-began
		}
		if _, answer := page(h, ""); answer.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("status %d with %d scrapes, want 503", answer.StatusCode, scrapes)
		}
		for range scrapes {
			end <- true
		}
		for range scrapes {
			if code := <-done; code != http.StatusOK {
				t.Errorf("status %d", code)
			}
		}
	}
}
