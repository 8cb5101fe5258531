package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/web"
	"golang.org/x/mod/sumdb/note"
)

const (
	// fpRate is the rate of false positives of a full filter.
	fpRate = 0.01
	// room is how many times the keys of the beginning fit into the filter.
	room = 1.25
	// valid is how long a head is valid.
	valid = 15 * time.Second
)

// folds are the factors of the fold classes: at 1 % the rates of the folds are 5 % and 45 %.
var folds = []uint64{5, 60}

// publisher publishes the versions of a set, and serves them over HTTP on loopback.
type publisher struct {
	set      *set
	versions *versions
	share    *share.Publisher
	verifier note.Verifier
	filter   *counting.Filter
	capacity int // keys for which the filter is planned
	url      string
	server   *http.Server
	handler  *web.Handler
	served   chan error
}

func newPublisher(ctx context.Context, s *set, v *versions) (*publisher, error) {
	key, _, err := share.NewKey("umbel/demo")
	if err != nil {
		return nil, err
	}
	store := new(share.Memory)
	p := &publisher{set: s, versions: v, verifier: key.Verifier, served: make(chan error, 1)}
	p.share, err = share.NewPublisher(ctx, share.PublisherOptions{
		Store: store, Key: key, Valid: valid, Folds: folds, Kinds: filter.All,
	})
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		if l, err = net.Listen("tcp", "[::1]:0"); err != nil {
			return nil, fmt.Errorf("listen on loopback: %w", err)
		}
	}
	p.url = fmt.Sprintf("http://%s", l.Addr())
	p.handler = web.NewHandler(store, web.HandlerOptions{})
	p.server = &http.Server{Handler: p.handler, ReadHeaderTimeout: valid}
	go func() { p.served <- p.server.Serve(l) }()
	return p, nil
}

// next applies a change to the set and returns the filter of the next version.
func (p *publisher) next(c change) (*share.Update, error) {
	v := p.versions.last() + 1
	p.set.apply(c, v)
	if err := p.update(c); err != nil {
		return nil, err
	}
	f := p.filter.View()
	costs, err := costsOf(f, p.set, c)
	if err != nil {
		return nil, err
	}
	p.versions.begin(v, costs)
	return &share.Update{State: f.State()}, nil
}

// done notes that the version of a head is published, if it is a new one.
func (p *publisher) done(h *share.Head) {
	if v := p.versions.last() + 1; h.Version == v {
		p.versions.complete(v, time.Now())
	}
}

// update applies a change to the filter. If the keys no longer fit, it makes a filter of twice the size,
// which has no deltas from the last one.
func (p *publisher) update(c change) error {
	keys, _, _ := p.set.size()
	if p.filter != nil && int(keys) <= p.capacity {
		for _, key := range c.removed {
			p.filter.RemoveString(key)
		}
		umbel.AddKeys(p.filter, c.added)
		return nil
	}
	p.capacity = max(1000, int(room*float64(keys)))
	if p.filter != nil {
		p.capacity = 2 * int(keys)
	}
	var err error
	if p.filter, err = counting.NewShape(shapeFor(p.capacity)); err != nil {
		return err
	}
	umbel.AddKeys(p.filter, p.set.keys(int(keys)))
	return nil
}

// shapeFor returns the shape of a filter for a number of keys at fpRate: with one cell per key, so that
// messages are small, and of a size that folds by all factors of folds.
func shapeFor(keys int) counting.Shape {
	const group = 6
	cells := float64(keys) / -math.Log1p(-fpRate)
	unit := folds[len(folds)-1] << group
	return counting.Shape{M: (uint64(cells)/unit + 1) * unit, K: 1, Group: group, Hasher: umbel.Hasher{Alg: umbel.XXH3}}
}

// close ends the server.
func (p *publisher) close() error {
	p.handler.Close()
	err := p.server.Close()
	if serve := <-p.served; !errors.Is(serve, http.ErrServerClosed) {
		err = errors.Join(err, serve)
	}
	return err
}
