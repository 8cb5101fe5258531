package live_test

import (
	"expvar"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/window"
	"github.com/umbel-filters/umbel/live"
)

// A crawler fetches each URL once, also over restarts.
func Example() {
	dir, err := os.MkdirTemp("", "live")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "seen.umb")

	for _, day := range [][]string{{"/a", "/b", "/a"}, {"/b", "/c"}} {
		seen, err := live.Open(path, bloom.Kind, umbel.Goal{Keys: 10_000, FPRate: 0.001}, live.Options{})
		if err != nil {
			log.Fatal(err)
		}
		for _, url := range day {
			if seen.AddString(url) {
				fmt.Println("fetch", url)
			}
		}
		if err := seen.Close(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// fetch /a
	// fetch /b
	// fetch /c
}

// gateway refuses requests whose Idempotency-Key it has seen within the window.
func gateway(seen *live.Filter, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key := r.Header.Get("Idempotency-Key"); key != "" && seen.SeenString(key, time.Now()) {
			http.Error(w, "this request was sent before", http.StatusConflict)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// A gateway refuses requests that were sent before within ten minutes.
func ExampleFilter_SeenString() {
	dir, err := os.MkdirTemp("", "live")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	seen, err := live.Open(filepath.Join(dir, "requests.umb"), window.Kind,
		umbel.Goal{Keys: 100_000, FPRate: 0.0001}, live.Options{Window: 10 * time.Minute, Every: 10 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	defer seen.Close()
	paid := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "paid") })
	s := httptest.NewServer(gateway(seen, paid))
	defer s.Close()

	for _, key := range []string{"1", "2", "1"} {
		r, err := http.NewRequest(http.MethodPost, s.URL, nil)
		if err != nil {
			log.Fatal(err)
		}
		r.Header.Set("Idempotency-Key", key)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			log.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		fmt.Printf("%s %s", key, text)
	}
	// Output:
	// 1 paid
	// 2 paid
	// 1 this request was sent before
}

// A service shows its filters to Prometheus and to expvar. Neither reads the cells.
func ExampleWriteMetrics() {
	dir, err := os.MkdirTemp("", "live")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	seen, err := live.Open(filepath.Join(dir, "seen.umb"), bloom.Kind, umbel.Goal{Keys: 10_000, FPRate: 0.001}, live.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer seen.Close()

	expvar.Publish("seen", seen) // at /debug/vars
	http.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		_ = live.WriteMetrics(w, seen) // to a client that may have gone
	})

	seen.AddString("/a")
	w := httptest.NewRecorder()
	http.DefaultServeMux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "umbel_filter_planned") || strings.HasPrefix(line, "umbel_filter_unsaved") {
			fmt.Print(strings.ReplaceAll(line, dir, "/var/lib/crawler"))
		}
	}
	// Output:
	// umbel_filter_planned_keys{filter="/var/lib/crawler/seen.umb"} 10000
	// umbel_filter_planned_false_positive_ratio{filter="/var/lib/crawler/seen.umb"} 0.001
	// umbel_filter_unsaved_changes{filter="/var/lib/crawler/seen.umb"} 1
}
