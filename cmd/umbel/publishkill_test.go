package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/web"
	"github.com/umbel-filters/umbel/wire"
	signed "golang.org/x/mod/sumdb/note"
)

var publishKills = flag.Int("publish-kills", 20, "rounds of TestPublishKill; 5 at most with -short")

// batchKeys is the number of keys of a request.
const batchKeys = 200

// killed is a node that publishes and is killed, and what its clients know.
type killed struct {
	*testing.T
	dir, url string
	node     *exec.Cmd

	mu    sync.Mutex
	acked []time.Time // of batch i, when it was acknowledged
	last  *share.Head // of the version that the subscriber has
	views int
}

// A node is killed while it publishes. A version that the subscriber accepts contains every key that was
// acknowledged before the head before it; after each restart the subscriber has the filter of the node, bit
// for bit, in the same stream.
func TestPublishKill(t *testing.T) {
	rounds := *publishKills
	if testing.Short() {
		rounds = min(rounds, 5)
	}
	private, public, err := signed.GenerateKey(rand.Reader, "example.org/words")
	if err != nil {
		t.Fatal(err)
	}
	k := &killed{T: t, dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(k.dir, "words.key"), []byte(private), 0o600); err != nil {
		t.Fatal(err)
	}
	k.start()
	defer func() { k.kill() }()
	k.request("PUT", "/v1/filters/words", `{"kind": "bloom", "keys": 100000, "fpRate": 0.01}`, api.MediaJSON)
	s := k.subscribe(public)
	// On a slow machine more rounds are needed to test anything.
	enough := func() bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		return len(k.acked) >= rounds && k.views >= 2*rounds
	}
	for round := 0; round < rounds || !enough() && round < 10*rounds; round++ {
		k.disturb(time.Duration(20+mathrand.IntN(300)) * time.Millisecond)
		k.start()
		k.compare(s)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	t.Logf("%d rounds, %d batches of %d keys, %d versions received, version %d", rounds, len(k.acked), batchKeys, k.views, k.last.Version)
}

// start starts the node, always at the same address.
func (k *killed) start() {
	k.Helper()
	if k.url == "" {
		k.url = "http://" + freeAddress(k.T)
	}
	k.node = exec.Command("umbel", "serve", "--data", filepath.Join(k.dir, "data"), "--resp", "off", "--http", strings.TrimPrefix(k.url, "http://"),
		"--log-level", "error", "--publications", `[{filter: words, period: 100ms, key: "`+filepath.ToSlash(filepath.Join(k.dir, "words.key"))+`"}]`)
	k.node.Stderr = os.Stderr
	if err := k.node.Start(); err != nil {
		k.Fatal(err)
	}
	await.True(k.T, "the node is ready", func() bool {
		_, err := k.try("GET", "/readyz", "", "")
		return err == nil
	})
}

// kill kills the node's process.
func (k *killed) kill() {
	_ = k.node.Process.Kill()
	_ = k.node.Wait()
}

// try makes a request; its error is that of the connection or of the reply.
func (k *killed) try(method, path, body, media string) (string, error) {
	r, err := http.NewRequest(method, k.url+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", media)
	if path == "/v1/filters/words" && method == "GET" {
		r.Header.Set("Accept", api.MediaContainer)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}
	answer, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, b)
	}
	return string(b), err
}

func (k *killed) request(method, path, body, media string) string {
	k.Helper()
	b, err := k.try(method, path, body, media)
	if err != nil {
		k.Fatal(err)
	}
	return b
}

// disturb adds keys and publishes all the time until a batch was acknowledged and two versions were received, and for
// some time more, and kills the node.
func (k *killed) disturb(after time.Duration) {
	k.Helper()
	k.mu.Lock()
	batches, views := len(k.acked)+1, k.views+2
	k.mu.Unlock()
	var clients sync.WaitGroup
	clients.Go(func() {
		for {
			k.mu.Lock()
			batch := len(k.acked)
			k.mu.Unlock()
			keys := ""
			for i := range batchKeys {
				keys += keyOf(batch*batchKeys+i) + "\n"
			}
			if _, err := k.try("POST", "/v1/filters/words/add", keys, api.MediaText); err != nil {
				return
			}
			k.mu.Lock()
			k.acked = append(k.acked, time.Now())
			k.mu.Unlock()
		}
	})
	clients.Go(func() {
		for {
			if _, err := k.try("POST", "/v1/publications/words", "", api.MediaJSON); err != nil {
				return
			}
		}
	})
	await.True(k.T, "a batch is acknowledged and two versions are received", func() bool {
		k.mu.Lock()
		defer k.mu.Unlock()
		return len(k.acked) >= batches && k.views >= views
	})
	time.Sleep(after) // when the node is killed is the point of the test
	k.kill()
	clients.Wait()
}

func keyOf(i int) string { return fmt.Sprint("key ", i) }

// subscribe starts a subscriber that runs until the test ends.
func (k *killed) subscribe(public string) *share.Subscriber {
	k.Helper()
	verifier, err := signed.NewVerifier(public)
	if err != nil {
		k.Fatal(err)
	}
	source, err := web.NewClient(k.url+"/v1/publications/words", web.ClientOptions{HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}})
	if err != nil {
		k.Fatal(err)
	}
	s, err := share.NewSubscriber(k.Context(), share.SubscriberOptions{
		Source: source, Verifier: verifier, Kinds: filter.All, Stale: share.StaleError, Changed: k.check,
	})
	if err != nil {
		k.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Run(ctx, 50*time.Millisecond)
	}()
	k.Cleanup(func() {
		stop()
		<-ended
		s.Close()
	})
	return s
}

// check checks a version that the subscriber accepted.
func (k *killed) check(v *share.View) {
	h, f := v.Head(), v.Filter()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.views++
	if k.last != nil {
		if h.Stream != k.last.Stream {
			k.Errorf("version %d is of stream %v, want %v as before the kill", h.Version, h.Stream, k.last.Stream)
		}
		for batch, at := range k.acked {
			if !at.Before(k.last.Time) {
				break
			}
			for i := range batchKeys {
				if key := keyOf(batch*batchKeys + i); !f.Has(f.Hasher().HashString(key)) {
					k.Errorf("version %d lacks %q, which was acknowledged before version %d", h.Version, key, k.last.Version)
					return
				}
			}
		}
	}
	k.last = &h
}

// compare waits until the subscriber has the version that contains all changes, and compares the filters.
func (k *killed) compare(s *share.Subscriber) {
	k.Helper()
	var version uint64
	if _, err := fmt.Sscanf(k.request("POST", "/v1/publications/words", "", api.MediaJSON), `{"version":%d}`, &version); err != nil {
		k.Fatal(err)
	}
	await.True(k.T, fmt.Sprintf("the subscriber has version %d", version), func() bool {
		v := s.View()
		return v != nil && v.Head().Version >= version && v.Exact()
	})
	want, err := wire.Parse([]byte(k.request("GET", "/v1/filters/words", "", "")), wire.NoLimits)
	if err != nil {
		k.Fatal(err)
	}
	if got := s.View().Filter().State(); !got.Equal(want) {
		k.Errorf("version %d differs from the filter of the node", s.View().Head().Version)
	}
}
