package mediumtest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/internal/pause"
)

// Faults are what may happen to a request on its way. Probabilities are between 0 and 1.
type Faults struct {
	Delay time.Duration // of each way, at most
	Fail  float64       // probability of an error, before or after the medium has done what was requested
	Hang  float64       // probability that nothing returns until the context is done
	Late  time.Duration // time, at most, until the medium receives a put that failed or hung, if it does
	Twice float64       // probability that the medium receives a put a second time, up to Late later
	Down  bool          // all requests fail
}

// errFault is the error of a request that failed.
var errFault = errors.New("503 slow down, or no connection")

// Link is a medium behind a network with faults. It may be used in a bubble of testing/synctest.
type Link struct {
	to     sharedlog.Medium
	wait   func() // see NewLink
	mu     sync.Mutex
	random *rand.Rand
	faults Faults
}

// NewLink returns a link to a medium. wait is called before a request is sent and before its answer is returned: it
// returns when the process that uses the link runs.
func NewLink(to sharedlog.Medium, seed uint64, wait func()) *Link {
	return &Link{to: to, wait: wait, random: rand.New(rand.NewPCG(seed, 0))}
}

// Set sets the faults of requests from now on.
func (l *Link) Set(f Faults) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = f
}

// fate is what happens to a request.
type fate struct {
	there, back        time.Duration // delays
	before, after      bool          // it fails before or after the medium receives it
	hangs              bool
	arrives, twice     bool // a put that failed arrives late; a put arrives again
	arrivesIn, againIn time.Duration
}

func (l *Link) draw() fate {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, r := l.faults, l.random
	span := func(d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d) + 1)) }
	x := fate{
		there: span(f.Delay), back: span(f.Delay),
		arrives: f.Late > 0 && r.IntN(2) == 0, arrivesIn: span(f.Late), twice: r.Float64() < f.Twice, againIn: span(f.Late),
	}
	fails, hangs, before := r.Float64() < f.Fail || f.Down, r.Float64() < f.Hang, r.IntN(2) == 0 || f.Down
	x.before, x.after, x.hangs = (fails || hangs) && before, (fails || hangs) && !before, hangs
	return x
}

// do sends a request.
func (l *Link) do(ctx context.Context, late bool, request func(context.Context) error) error {
	l.wait()
	x := l.draw()
	later := func(d time.Duration) {
		go func() {
			time.Sleep(d)
			request(context.WithoutCancel(ctx))
		}()
	}
	var err error
	switch {
	case !pause.For(ctx, x.there):
		err = ctx.Err()
	case x.before:
		if late && x.arrives {
			later(x.arrivesIn)
		}
		err = errFault
	default:
		err = request(ctx)
		if late && x.twice {
			later(x.againIn)
		}
		if x.after {
			err = errFault
		}
	}
	if x.hangs && err == errFault {
		<-ctx.Done()
		err = ctx.Err()
	}
	time.Sleep(x.back)
	l.wait()
	return err
}

func (l *Link) Put(ctx context.Context, key string, data []byte) error {
	return l.do(ctx, true, func(ctx context.Context) error { return l.to.Put(ctx, key, data) })
}

func (l *Link) Get(ctx context.Context, key string) (b []byte, err error) {
	err = l.do(ctx, false, func(ctx context.Context) error {
		b, err = l.to.Get(ctx, key)
		return err
	})
	return b, err
}

func (l *Link) List(ctx context.Context, prefix string) (all []string, err error) {
	err = l.do(ctx, false, func(ctx context.Context) error {
		all, err = l.to.List(ctx, prefix)
		return err
	})
	return all, err
}

func (l *Link) Delete(ctx context.Context, key string) error {
	return l.do(ctx, false, func(ctx context.Context) error { return l.to.Delete(ctx, key) })
}
