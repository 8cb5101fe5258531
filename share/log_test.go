package share_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/share"
)

// A publisher logs what makes all subscribers fetch a snapshot, and nothing else.
func TestPublisherLog(t *testing.T) {
	p := newPair(t)
	cache := newCache()
	p.store = cache
	var log strings.Builder
	begin := func() {
		t.Helper()
		var err error
		p.p, err = share.NewPublisher(t.Context(), share.PublisherOptions{
			Store: p.store, Key: share.Key{Signer: p.signer, Verifier: p.verifier}, Now: p.clock, Log: slog.New(slog.NewTextHandler(&log, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	wantLog := func(text string) {
		t.Helper()
		if got := log.String(); got == "" != (text == "") || !strings.Contains(got, text) {
			t.Errorf("the log is %q, want %q", got, text)
		}
		log.Reset()
	}
	begin()
	p.publish(set(t, 1<<14, 0, 500))
	p.publish(set(t, 1<<14, 0, 501))
	wantLog("")
	other := set(t, 1<<14, 0, 501)
	other.Hasher.Alg++
	p.publish(other)
	wantLog(`msg="no delta leads to the version; subscribers fetch a snapshot" version=3`)
	begin()
	wantLog("")
	clear(cache.objects)
	begin()
	wantLog(`msg="a new stream begins, because the last version cannot be read; subscribers fetch a snapshot" version=3`)
}
