package squidpeer

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
	"github.com/umbel-filters/umbel/share/web"
)

// headValid is how long the head of a publication is valid. It is short, because a digest is not valid
// for longer after it was fetched than its peer said, and a head is renewed while the digest is.
const headValid = time.Minute

// Publication publishes the digests of a peer, as filters of kind squid, in a directory. A nil Publication does
// nothing. Its methods are safe for concurrent use, but run has one caller.
type Publication struct {
	store   *dir.Store
	p       *share.Publisher
	handler *web.Handler
	wake    chan struct{} // has room for one

	mu    sync.Mutex
	next  *share.Update // of the last digest, until it is taken; nil after that
	until time.Time     // the end of the validity of the digest
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
	return &Publication{store: store, p: p, handler: web.NewHandler(store, web.HandlerOptions{}), wake: make(chan struct{}, 1)}, nil
}

// Handler serves the publication, and is nil for a nil Publication.
func (p *Publication) Handler() http.Handler {
	if p == nil {
		return nil
	}
	return p.handler
}

// set makes a digest the one that is published, until a time.
func (p *Publication) set(d squid.Digest, until time.Time) error {
	if p == nil {
		return nil
	}
	f, err := d.Filter()
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.next, p.until = &share.Update{State: f.State()}, until
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default: // the digest before was not taken yet
	}
	return nil
}

// errExpired is the error of a digest that its peer no longer vouches for.
var errExpired = errors.New("the digest of the peer has expired, and there is no other one yet")

// take returns the filter of the digest if it is another one, and errExpired after its time, so that the head expires.
func (p *Publication) take(context.Context) (*share.Update, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !time.Now().Before(p.until) {
		return nil, errExpired
	}
	next := p.next
	p.next = nil
	return next, nil
}

// run publishes digests and renews heads until ctx ends. It begins with the first digest, and calls done with the error
// of each look at it.
func (p *Publication) run(ctx context.Context, done func(error)) {
	if p == nil {
		return
	}
	select {
	case <-p.wake:
	case <-ctx.Done():
		return
	}
	_ = p.p.Run(ctx, share.Feed{Next: p.take, Wake: p.wake, Done: func(_ *share.Head, err error) { done(err) }}) // done has the error
}

// Close ends the publication. The directory stays.
func (p *Publication) Close(ctx context.Context) error {
	if p == nil {
		return nil
	}
	p.handler.Close()
	return errors.Join(p.p.Close(ctx), p.store.Close())
}
