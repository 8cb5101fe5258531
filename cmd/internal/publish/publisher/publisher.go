// Package publisher publishes what a verb follows into a directory, and may serve it over HTTP. refusal.go explains why a version is
// not published, status.go has the status page.
package publisher

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"github.com/umbel-filters/umbel/cmd/internal/publish/signing"
	"github.com/umbel-filters/umbel/cmd/internal/service"
	"github.com/umbel-filters/umbel/cmd/internal/service/status"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/hop"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
	"github.com/umbel-filters/umbel/share/web"
)

// Options are the flags of a verb that publishes.
type Options struct {
	Directory string // of the publication
	KeyFile   string
	Listen    string // HOST:PORT, "" for not to serve
	Source    string // what is published, for errors
	Log       *slog.Logger

	Share share.PublisherOptions // Open completes them
}

// Publisher publishes into a directory.
type Publisher struct {
	*share.Publisher
	o        Options
	key      signing.Key
	store    *dir.Store
	listener net.Listener // nil for none
}

// Open reads the key, listens, and opens the directory, which no other publisher may use.
func Open(ctx context.Context, o Options) (_ *Publisher, err error) {
	p := &Publisher{o: o}
	defer func() {
		if err != nil {
			_ = p.Close(ctx) // the error is that of Open
		}
	}()
	if p.key, err = signing.Read(o.KeyFile); err != nil {
		return nil, err
	}
	if o.Listen != "" {
		if p.listener, err = service.Listen("listen", o.Listen); err != nil {
			return nil, err
		}
	}
	p.store, err = dir.Create(o.Directory)
	if errors.Is(err, dir.ErrLocked) {
		return nil, fmt.Errorf("another program publishes to %s; stop it, or publish to another directory", o.Directory)
	}
	if err != nil {
		return nil, err
	}
	s := o.Share
	s.Store, s.Key, s.Kinds, s.Log = p.store, p.key.Key, filter.All, slog.New(explaining{o.Log.With("file", o.Source).Handler(), o.Source})
	if p.Publisher, err = share.NewPublisher(ctx, s); err != nil {
		return nil, Explain(o.Source, err)
	}
	return p, nil
}

// Run calls work until ctx ends, and serves the publication and what mux has meanwhile, if it listens.
func (p *Publisher) Run(ctx context.Context, mux *http.ServeMux, work func(context.Context) error) error {
	watch := func(ctx context.Context) error {
		if err := work(ctx); ctx.Err() == nil {
			return err
		}
		return nil
	}
	if p.listener == nil {
		return watch(ctx)
	}
	p.o.Log.Info("serving", event.Ready, "directory", p.o.Directory, "listen", "http://"+p.listener.Addr().String()+"/")
	return serve(p.listener, p.store, p.key, mux, p.o.Log).Run(ctx, service.Drain, watch)
}

// serve begins to serve a publication, with its status.
func serve(l net.Listener, source share.Source, key signing.Key, mux *http.ServeMux, log *slog.Logger) *service.Group {
	publication := web.NewHandler(source, web.HandlerOptions{})
	mux.Handle("/", publication)
	status.Handle(mux, func() status.Report { return reportOf(source, key) })
	server := service.NewServer(hop.Bodiless(mux), log)
	server.RegisterOnShutdown(publication.Close) // answers subscribers that wait for a version
	g := service.NewGroup()
	g.Serve("--listen", server, service.Stalling(l))
	return g
}

// Close ends the publisher, so that the next one continues with small deltas, and releases the directory.
func (p *Publisher) Close(ctx context.Context) (err error) {
	if p.Publisher != nil {
		err = p.Publisher.Close(context.WithoutCancel(ctx))
	}
	if p.store != nil {
		err = errors.Join(err, p.store.Close())
	}
	if p.listener != nil {
		_ = p.listener.Close() // Run may have closed it
	}
	return err
}
