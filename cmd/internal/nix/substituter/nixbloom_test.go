package substituter_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/nix/substituter"
)

// bloomOf returns the summary in the file of a cache, and runs it until the test ends.
func bloomOf(t *testing.T, n network, host string) *substituter.Bloom {
	b := substituter.NewBloom(substituter.BloomOptions{URL: address(host), Client: substituter.NewClient(n), MaxBytes: 1 << 20})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); b.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	return b
}

func answer(s substituter.Summary, i int) substituter.Answer {
	return s.Has(substituter.Path{Text: hash(i).String(), Hash: hash(i)})
}

// TestNixBloom: the file answers after it has arrived, is confirmed by its tag, and is not used any more when the cache
// has not confirmed it for MaxAge. Then every path is requested.
func TestNixBloom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newCache(0, 10).hasBloom(`"1"`)
		n := network{"a": a}
		b := bloomOf(t, n, "a")
		s := server(t, n, substituter.Upstream{URL: address("a"), Summary: b})
		synctest.Wait()
		for i := range 10 {
			if got := answer(b, i); got != substituter.Maybe {
				t.Errorf("path %d: %v, want Maybe: a false negative", i, got)
			}
		}
		if got := answer(b, 99); got != substituter.Absent {
			t.Errorf("path 99: %v, want Absent", got)
		}
		wantStatus(t, s, 5, ok)
		a.requests("")
		wantStatus(t, s, 99, notFound)
		time.Sleep(20 * time.Minute) // confirmed by the tag meanwhile
		if n := a.requests("/bloom-filter"); n < 10 || answer(b, 99) != substituter.Absent {
			t.Errorf("%d requests in 20 minutes, and path 99 is %v", n, answer(b, 99))
		}

		// A path that was added is found after the next confirmation.
		a.set(func() {
			a.paths[99] = true
			a.hasBloom(`"2"`)
		})
		time.Sleep(substituter.DefaultMaxAge / 3)
		synctest.Wait()
		wantStatus(t, s, 99, ok)

		// A file that is not confirmed any more is not used.
		a.set(func() {
			a.paths[100] = true
			a.lie = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/bloom-filter" {
					w.WriteHeader(http.StatusInternalServerError)
					return true
				}
				return false
			}
		})
		time.Sleep(substituter.DefaultMaxAge)
		if got := answer(b, 100); got != substituter.Unknown {
			t.Errorf("path 100 with a stale file: %v, want Unknown", got)
		}
		wantStatus(t, s, 100, ok)
		if st := b.Status(); st.Current || st.Error == "" {
			t.Errorf("%+v", st)
		}
	})
}

// TestNixBloomAge: the time for which a cache on the way has had a file counts.
func TestNixBloomAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newCache(0, 10).hasBloom(`"1"`)
		a.lie = func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Age", fmt.Sprint(int(substituter.DefaultMaxAge/time.Second)))
			return false
		}
		b := bloomOf(t, network{"a": a}, "a")
		synctest.Wait()
		if got := answer(b, 99); got != substituter.Unknown {
			t.Errorf("%v, want Unknown", got)
		}
	})
}

// TestNixBloomRefused: a file that is damaged, longer than stated or too large is not used.
func TestNixBloomRefused(t *testing.T) {
	good := newCache(0, 10).hasBloom(`"1"`).bloom
	large := append([]byte{}, good[:32]...)
	binary.LittleEndian.PutUint64(large[24:], 1<<40)
	for what, file := range map[string][]byte{
		"empty": {}, "cut": good[:len(good)-1], "longer": append(append([]byte{}, good...), 0), "header only": good[:32],
		"a terabit": large, "HTML": []byte("<html>there is no such file, and here is a long text about it</html>"),
	} {
		synctest.Test(t, func(t *testing.T) {
			a := newCache(0, 10)
			a.bloom, a.tag = file, `"x"`
			b := bloomOf(t, network{"a": a}, "a")
			synctest.Wait()
			if st := b.Status(); answer(b, 99) != substituter.Unknown || st.Error == "" || st.Current {
				t.Errorf("%s: %v, %+v", what, answer(b, 99), st)
			}
		})
	}
}

// TestNoNixBloom: a cache without a file has no summary, and one that gets it later has one.
func TestNoNixBloom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newCache(0, 10)
		b := bloomOf(t, network{"a": a}, "a")
		synctest.Wait()
		if got := answer(b, 99); got != substituter.Unknown {
			t.Errorf("%v, want Unknown", got)
		}
		a.set(func() { a.hasBloom(`"1"`) })
		time.Sleep(substituter.DefaultMaxAge / 3)
		synctest.Wait()
		if got := answer(b, 99); got != substituter.Absent {
			t.Errorf("%v, want Absent", got)
		}
	})
}
