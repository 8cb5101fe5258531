package share_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
)

// Wrong options and keys are errors that wrap umbel.ErrGoal.
func TestWrongOptions(t *testing.T) {
	ctx := t.Context()
	p := newPair(t)
	key := share.Key{Signer: p.signer, Verifier: p.verifier}
	for what, refused := range map[string]func() error{
		"no store": func() error { _, err := share.NewPublisher(ctx, share.PublisherOptions{Key: key}); return err },
		"no key":   func() error { _, err := share.NewPublisher(ctx, share.PublisherOptions{Store: p.store}); return err },
		"half a second": func() error {
			return publisherOf(ctx, p, func(o *share.PublisherOptions) { o.Valid = time.Second / 2 })
		},
		"no kinds": func() error { return publisherOf(ctx, p, func(o *share.PublisherOptions) { o.Folds = []uint64{2} }) },
		"no divisor": func() error {
			return publisherOf(ctx, p, func(o *share.PublisherOptions) { o.Folds, o.Kinds = []uint64{2, 3}, filter.All })
		},
		"no source": func() error { _, err := share.NewSubscriber(ctx, share.SubscriberOptions{}); return err },
		"no stale": func() error {
			_, err := share.NewSubscriber(ctx, share.SubscriberOptions{Source: p.store, Verifier: p.verifier, Kinds: filter.All})
			return err
		},
		"no name":        func() error { _, _, err := share.NewKey(""); return err },
		"no private key": func() error { _, err := share.ParseKey("x"); return err },
		"no public key":  func() error { _, err := share.PublicKey("x"); return err },
	} {
		if err := refused(); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := p.p.Renew(ctx); !errors.Is(err, share.ErrNotFound) {
		t.Errorf("Renew before the first version: %v", err)
	}
}

func publisherOf(ctx context.Context, p *pair, change func(*share.PublisherOptions)) error {
	o := share.PublisherOptions{Store: p.store, Key: share.Key{Signer: p.signer, Verifier: p.verifier}}
	change(&o)
	_, err := share.NewPublisher(ctx, o)
	return err
}

// After Close an update says why its version does not answer.
func TestUpdateClosed(t *testing.T) {
	p := newPair(t)
	p.publish(set(t, 1<<10, 0, 10))
	s := p.subscriber(share.SubscriberOptions{})
	update(t, s)
	s.Close()
	if err := s.Update(t.Context()); !errors.Is(err, share.ErrStale) || !strings.Contains(err.Error(), "closed") {
		t.Errorf("an update after Close: %v", err)
	}
}

func TestPeersSetNone(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a peer without a subscriber is accepted")
		}
	}()
	new(share.Peers).Set(share.Peer{Name: "x"})
}
