// Package interrupt ends work at a signal, and keeps which signal it was.
package interrupt

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Error is the cause of the end of a context of [Context], and wraps context.Canceled.
type Error struct{ Signal syscall.Signal }

func (e Error) Error() string { return "interrupted" }

// Unwrap returns context.Canceled.
func (e Error) Unwrap() error { return context.Canceled }

// ExitCode returns the exit code that shells report for a program that the signal ended, from 129 to 255.
func (e Error) ExitCode() int { return 128 + int(e.Signal) }

// Context is signal.NotifyContext with an [Error] as the cause. The function that it returns restores the effect
// of the signals and releases the context; it may be called more than once, and concurrently.
func Context(parent context.Context, signals ...os.Signal) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	received := make(chan os.Signal, 1)
	signal.Notify(received, signals...)
	go func() {
		select {
		case s := <-received:
			number, ok := s.(syscall.Signal)
			if !ok {
				number = syscall.SIGINT
			}
			cancel(Error{number})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(received)
		cancel(nil)
	}
}

// Reader returns r as a reader that returns the cause of the end of ctx as soon as ctx is done. A read of r that
// blocks then goes on in its goroutine, with the buffer of that read, which must not be used any more.
func Reader(ctx context.Context, r io.Reader) io.Reader { return &reader{ctx, r} }

type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	if r.ctx.Done() == nil {
		return r.r.Read(p)
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	go func() {
		n, err := r.r.Read(p)
		done <- result{n, err}
	}()
	select {
	case <-r.ctx.Done():
		return 0, context.Cause(r.ctx)
	case read := <-done:
		return read.n, read.err
	}
}
