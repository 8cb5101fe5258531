package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/umbel-filters/umbel/cmd/internal/cli/color"
	"github.com/umbel-filters/umbel/cmd/internal/report"
	"github.com/umbel-filters/umbel/cmd/internal/service/interrupt"
)

// SignalContext returns a context that ends at one of the signals, by default SIGINT and SIGTERM, and
// the function that restores their effect.
func (s *Streams) SignalContext(ctx context.Context, signals ...os.Signal) (context.Context, func()) {
	if len(signals) == 0 {
		signals = []os.Signal{os.Interrupt, syscall.SIGTERM}
	}
	ctx, stop := interrupt.Context(ctx, signals...)
	s.signaled = ctx
	return ctx, stop
}

// Interruptible returns a context that ^C ends, which cancels the verb's requests and its reading of keys, so that it can undo an
// incomplete change. A second ^C ends the program at once.
func (s *Streams) Interruptible(ctx context.Context) context.Context {
	ctx, stop := s.SignalContext(ctx)
	context.AfterFunc(ctx, stop)
	return ctx
}

// Interrupted returns the error of a verb that a signal has ended, with the consequence and the exit code of the signal.
func Interrupted(ctx context.Context, consequence string) error {
	return WithCode(interruptedCode(ctx, nil), errors.New("interrupted; "+consequence))
}

// interruptedCode returns the exit code of a verb that a signal has ended: err or the end of its context has the
// signal.
func interruptedCode(ctx context.Context, err error) int {
	if ctx != nil {
		err = errors.Join(err, context.Cause(ctx))
	}
	if e, ok := errors.AsType[interrupt.Error](err); ok {
		return e.ExitCode()
	}
	return exitInterrupted
}

// EndAtSignal ends the program at SIGINT and SIGTERM, with an error that states the consequence, until the function
// that it returns is called. It is for work that can be abandoned at any time.
func (s *Streams) EndAtSignal(ctx context.Context, consequence string) (stop func()) {
	ctx, release := interrupt.Context(ctx, os.Interrupt, syscall.SIGTERM)
	keep := context.AfterFunc(ctx, func() {
		if file := s.terminal(); file != nil && color.CanDraw(file) {
			fmt.Fprint(file, "\r\x1b[K") // a progress bar
		}
		exit := interruptedCode(ctx, nil)
		report.Fail(s.Log, "interrupted; "+consequence, exit)
		os.Exit(exit)
	})
	return func() {
		keep()
		release()
	}
}
