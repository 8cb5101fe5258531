package publish

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/publish/signing"
	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/share/web"
)

const (
	// minRetry is the time until the first attempt after a failure, unless the period is shorter. Each
	// further attempt waits twice as long, at most a third of the validity of a head.
	minRetry = time.Second
	// closeTime is the time to note which objects are unused: see share.Publisher.Close.
	closeTime = 3 * time.Second
)

// errStopped is returned by Publish if the publication ends.
var errStopped = errors.New("the publication ends")

// Publication publishes one filter. Its methods are safe for concurrent use.
type Publication struct {
	o       Options
	spec    Spec
	key     signing.Key
	log     *slog.Logger
	source  *source
	handler *web.Handler
	stop    context.CancelFunc
	ended   chan struct{}
	wake    chan struct{} // has room for one

	// Of the goroutine.
	writer   writer
	began    time.Time     // of the last look
	answered []chan answer // by that look
	failures int           // in a row

	mu      sync.Mutex
	asked   []chan answer // by Publish, for the next look
	stopped bool
	status  api.Publication
}

// answer is the result of a look that was requested.
type answer struct {
	version uint64
	err     error
}

func newPublication(o Options, s Spec, k signing.Key, room *budget.Files) *Publication {
	src := newSource(s.Directory)
	p := &Publication{
		o: o, spec: s, key: k, source: src, log: o.Log,
		handler: web.NewHandler(src, web.HandlerOptions{MaxWait: o.MaxWait}),
		ended:   make(chan struct{}), wake: make(chan struct{}, 1),
		status: api.Publication{
			Filter: s.Filter, Path: api.PublicationPath(s.Filter), Name: k.Signer.Name(), PublicKey: k.Public, Public: s.Public,
			State: api.PublicationStarting,
		},
	}
	p.writer = writer{o: o, spec: s, key: k, log: o.Log, hold: o.Engine.NewReservation(), copied: o.Engine.NewReservation(), room: room}
	return p
}

// run publishes until ctx ends. It begins when the publication before it has ended, because both may have
// the same directory.
func (p *Publication) run(ctx context.Context, before *Publication) {
	defer close(p.ended)
	if before != nil {
		<-before.ended
	}
	p.log.Info("publishing a filter", event.PublicationStarted, "filter", p.spec.Filter, "directory", p.spec.Directory,
		"key", p.key.Public, "period", p.spec.Period)
	for ctx.Err() == nil {
		p.look()
		if f, err := p.writer.begin(ctx); err == nil {
			p.follow(ctx, f)
		} else if ctx.Err() == nil {
			p.done(result{err: err, disk: p.writer.count()})
		}
		if ctx.Err() == nil {
			p.sleep(ctx, p.retry())
		}
	}
	p.end(ctx)
}

// follow publishes the filter until its directory must be closed.
func (p *Publication) follow(ctx context.Context, f *engine.Filter) {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	err := p.writer.run(inner, f, p.wake, p.look, func(r result) {
		if p.done(r); p.writer.mustClose(r.err) {
			stop()
		}
	})
	if errors.Is(err, engine.ErrFault) {
		p.done(result{err: err})
	}
	if ctx.Err() == nil {
		p.writer.close(ctx)
	}
}

// look begins a look at the filter, which answers the requests so far.
func (p *Publication) look() {
	p.began = time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answered, p.asked = append(p.answered, p.asked...), nil
}

// done notes the result of a look, and answers the requests.
func (p *Publication) done(r result) {
	if p.failures++; !r.failed() {
		p.failures = 0
	}
	p.note(r, time.Since(p.began))
	p.reply(answer{r.version(), r.err})
}

// retry returns the time until the directory is opened again.
func (p *Publication) retry() time.Duration {
	if p.failures == 0 {
		return p.spec.Period
	}
	d := min(minRetry, p.spec.Period) << min(p.failures-1, 20)
	return min(d, max(p.spec.Valid/3, p.spec.Period))
}

func (p *Publication) sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.wake:
	case <-ctx.Done():
	}
}

// end notes which objects are unused, and answers the requests that wait.
func (p *Publication) end(ctx context.Context) {
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	p.writer.close(closing)
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.look()
	p.reply(answer{err: errStopped})
	p.handler.Close()
	p.log.Info("publication stopped", event.PublicationStopped, "filter", p.spec.Filter)
}

// publish looks at the filter now and publishes it if it has changed. It returns the version that
// contains all changes that were complete before the call. Concurrent calls share a version.
func (p *Publication) publish(ctx context.Context) (version uint64, err error) {
	a := make(chan answer, 1)
	p.mu.Lock()
	if p.stopped {
		p.mu.Unlock()
		return 0, errStopped
	}
	p.asked = append(p.asked, a)
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default: // a look is due, which takes this request too
	}
	select {
	case got := <-a:
		return got.version, got.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// reply answers the requests of the look.
func (p *Publication) reply(a answer) {
	for _, c := range p.answered {
		c <- a
	}
	p.answered = nil
}

// Handler returns the handler of the paths /head, /head-FACTOR and /objects/NAME.
func (p *Publication) Handler() *web.Handler { return p.handler }

// Public reports whether everybody may read the publication.
func (p *Publication) Public() bool { return p.spec.Public }

// Status returns the state of the publication.
func (p *Publication) Status() api.Publication {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.status
	if s.Time != nil {
		s.AgeSeconds = max(0, time.Since(*s.Time).Seconds())
	}
	return s
}

// stateOf returns the state after a look that ended with err.
func stateOf(err error) string {
	switch {
	case err == nil:
		return api.PublicationCurrent
	case errors.Is(err, engine.ErrNotFound):
		return api.PublicationMissing
	case errors.Is(err, engine.ErrIncomplete):
		return api.PublicationIncomplete
	case errors.Is(err, errSeed):
		return api.PublicationSeed
	}
	return api.PublicationFailed
}
