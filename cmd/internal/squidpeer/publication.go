package squidpeer

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime"
	"time"

	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
	"github.com/umbel-filters/umbel/share/web"
)

const (
	// headValid is how long the head of a publication is valid. It is short, because a digest is not valid
	// for longer after it was fetched than its peer said, and a head is renewed while the digest is.
	headValid   = time.Minute
	renewPeriod = headValid / 3
)

// Publication publishes the digests of a peer, as filters of kind squid, in a directory. A nil Publication does
// nothing. Its methods, except for Handler, must not be called concurrently.
type Publication struct {
	store   *dir.Store
	p       *share.Publisher
	handler *web.Handler
}

// Publish returns a publication in a directory, which it creates if necessary.
func Publish(ctx context.Context, directory string, key share.Key, log *slog.Logger) (*Publication, error) {
	store, err := dir.Create(directory)
	if err != nil {
		return nil, err
	}
	p, err := share.NewPublisher(ctx, share.PublisherOptions{
		Store: store, Key: key, Valid: headValid, Workers: runtime.GOMAXPROCS(0), Kinds: filter.All, Log: log,
	})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return &Publication{store: store, p: p, handler: web.NewHandler(store, web.HandlerOptions{})}, nil
}

// Handler serves the publication, and is nil for a nil Publication.
func (p *Publication) Handler() http.Handler {
	if p == nil {
		return nil
	}
	return p.handler
}

// publish publishes the filter of a digest as the next version, if it has changed.
func (p *Publication) publish(ctx context.Context, d squid.Digest) error {
	if p == nil {
		return nil
	}
	f, err := d.Filter()
	if err != nil {
		return err
	}
	h, err := p.p.Publish(ctx, f.State())
	if h != nil && err != nil {
		return nil // the version is published; an old object was not removed
	}
	return err
}

// renew renews the head of the last version.
func (p *Publication) renew(ctx context.Context) error {
	if p == nil || p.p.Head() == nil {
		return nil
	}
	_, err := p.p.Renew(ctx)
	return err
}

// Close ends the publication. The directory stays.
func (p *Publication) Close(ctx context.Context) error {
	if p == nil {
		return nil
	}
	p.handler.Close()
	return errors.Join(p.p.Close(ctx), p.store.Close())
}
