package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Close writes queued changes, with Durability None takes a snapshot, and ends. When ctx is done, it
// gives up what is not written and returns an error. It may be called again.
func (s *Store) Close(ctx context.Context) error {
	var err error
	s.closed.Do(func() { err = s.close(ctx) })
	return err
}

func (s *Store) close(ctx context.Context) error {
	s.journal.StopAccepting()
	s.stop()
	// A caller that waits for room may hold a filter for which a snapshot waits.
	defer context.AfterFunc(ctx, func() {
		s.journal.Close()
		s.abort()
	})()
	var errs []error
	fails := func(what string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", what, err))
		}
	}
	fails("snapshot does not end", within(ctx, func() error { s.runs.Wait(); return nil }))
	switch {
	case s.o.Durability != None:
		fails("changes not written", s.journal.Drain(ctx))
	case len(errs) == 0:
		s.taker.Hurry(true)
		fails("last snapshot", s.Snapshot(ctx))
	}
	s.journal.Close()
	if len(errs) > 0 {
		s.abort()
	}
	fails("write to the log does not end", within(ctx, func() error { s.writing.Wait(); return nil }))
	s.abort()
	return errors.Join(errs...)
}

// grace is the time that Close waits after its context is done. By then everything has been
// cancelled, but a call of the operating system may hang.
const grace = time.Second

// within returns the result of f, or the error of ctx if f has not returned at the end of grace.
func within(ctx context.Context, f func() error) error {
	result := make(chan error, 1)
	go func() { result <- f() }()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-result:
		return err
	case <-time.After(grace):
		return ctx.Err()
	}
}
