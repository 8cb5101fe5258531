package squid

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The trace of the meshes: requests for traceObjects objects of which the popularity is a Zipf distribution, as those of web caches
// are (Breslau et al. 1999).
const (
	traceObjects  = 5000
	traceExponent = 0.8
	// originDelay is how long the origin takes.
	originDelay = 30 * time.Millisecond
)

// request is one of a trace.
type request struct {
	path, language string
}

// trace returns n requests. Each seed has other requests with the same popularities.
func trace(seed uint64, n int) []request {
	random := rand.New(rand.NewPCG(seed, 1))
	sums := make([]float64, traceObjects)
	sum := 0.0
	for i := range sums {
		sum += math.Pow(float64(i+1), -traceExponent)
		sums[i] = sum
	}
	list := make([]request, n)
	for i := range list {
		object := sort.SearchFloat64s(sums, random.Float64()*sum)
		list[i] = request{fmt.Sprint("/", object), []string{"en", "de", "fr"}[random.IntN(3)]}
	}
	return list
}

// lifetime returns for how long an object is fresh: a quarter of them for two minutes and a quarter for ten.
func lifetime(object int) int { return []int{120, 600, 86400, 86400}[object*7%4] }

// varies reports whether an object has variants: one in ten does.
func varies(object int) bool { return object*3%10 == 0 }

// tracedOrigin is the origin of one mesh. It counts requests in a window, and marks each response with the number of
// the request, so that the client sees whether it was made for it.
type tracedOrigin struct {
	url      string
	requests atomic.Uint64
}

func newTracedOrigin(t *testing.T) *tracedOrigin {
	o := &tracedOrigin{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.requests.Add(1)
		time.Sleep(originDelay)
		object, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", fmt.Sprint("max-age=", lifetime(object)))
		w.Header().Set("Trace", r.Header.Get("Trace"))
		if varies(object) {
			w.Header().Set("Vary", "Accept-Language")
		}
		fmt.Fprint(w, r.URL.Path, r.Header.Get("Accept-Language"), strings.Repeat(".", 500+object*11%4000))
	}))
	t.Cleanup(s.Close)
	o.url = s.URL
	return o
}
