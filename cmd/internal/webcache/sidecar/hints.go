package sidecar

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"sync"

	"github.com/umbel-filters/umbel/cmd/internal/webcache/cachelog"
	"github.com/umbel-filters/umbel/internal/httptarget"
	"github.com/umbel-filters/umbel/siblings"
)

// follow reads what the logs of the cache say about removals.
func (c *Config) follow(ctx context.Context, task func(func() error), m *siblings.Mesh, fetched *fetches) {
	if c.SquidStoreLog != "" {
		task(func() error {
			err := cachelog.Follow(ctx, c.SquidStoreLog, func(line string) {
				if text, ok := cachelog.Squid(line); ok {
					if u, err := httptarget.Parse(text); err == nil {
						u.Scheme = c.Origin.Scheme // Squid has that of its clients
						m.Removed(siblings.KeyOf(u, c.Mesh.Host))
					}
				}
			})
			if err != nil {
				return fmt.Errorf("--squid-store-log: %w", err)
			}
			return nil
		})
	}
	killed := func(line string) {
		if number, ok := cachelog.Varnish(line); ok {
			if k, ok := fetched.take(number); ok {
				m.Removed(k)
			}
		}
	}
	switch c.VarnishLog {
	case "":
	case "-":
		// A read of standard input can't be cancelled: the goroutine ends with the process.
		go cachelog.Lines(os.Stdin, killed)
	default:
		task(func() error {
			if err := cachelog.Follow(ctx, c.VarnishLog, killed); err != nil {
				return fmt.Errorf("--varnish-log: %w", err)
			}
			return nil
		})
	}
}

// maxFetches is the number of requests of Varnish whose keys are kept, about 200 bytes each.
const maxFetches = 1 << 18

// fetches are the keys of Varnish's requests by their numbers, which its log has. It is safe for concurrent use.
type fetches struct {
	mu    sync.Mutex
	keys  map[uint64]siblings.Key
	order []uint64 // of the numbers, as a ring
	next  int
}

// note returns a handler that keeps the keys of requests.
func (f *fetches) note(next http.Handler, scheme, host string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if number, err := strconv.ParseUint(r.Header.Get("X-Varnish"), 10, 64); err == nil && r.Header[siblings.HopHeader] == nil {
			if k, err := keyOf(r, scheme, host); err == nil {
				f.put(number, k)
			}
		}
		next.ServeHTTP(w, r)
	})
}

// keyOf returns the key of a request that the sidecar gets.
func keyOf(r *http.Request, scheme, host string) (siblings.Key, error) {
	target, err := httptarget.Received(r)
	if err != nil {
		return "", err
	}
	u, err := httptarget.On(&url.URL{Scheme: scheme, Host: r.Host}, target)
	if err != nil {
		return "", err
	}
	return siblings.KeyOf(u, host), nil
}

func (f *fetches) put(number uint64, k siblings.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.keys == nil {
		f.keys = map[uint64]siblings.Key{}
	}
	if len(f.order) < maxFetches {
		f.order = append(f.order, number)
	} else {
		delete(f.keys, f.order[f.next])
		f.order[f.next] = number
		f.next = (f.next + 1) % maxFetches
	}
	f.keys[number] = k
}

// take returns the key of a request, once.
func (f *fetches) take(number uint64) (siblings.Key, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k, ok := f.keys[number]
	delete(f.keys, number)
	return k, ok
}
