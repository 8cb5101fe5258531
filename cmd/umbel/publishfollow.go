package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/umbel-filters/umbel/internal/faultlog"
	"github.com/umbel-filters/umbel/share"
)

// watch publishes the changes of the file until ctx ends. A file that can't be read
// or published is tried again.
func (p *publisher) watch(ctx context.Context) error {
	t := time.NewTicker(min(p.follow, p.o.Valid/3))
	defer t.Stop()
	var fault faultlog.Fault
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		switch err := p.look(ctx); {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, share.ErrFork):
			return err
		case err != nil:
			p.log.warnOf(&fault, err, "file cannot be published", []any{"file", p.file}, "the last version remains published")
		default:
			p.log.noteEnd(&fault, "file is published again", []any{"file", p.file}, "%s can be published again", p.file)
		}
	}
}

// look publishes the file if it has changed, and renews the head after a third of its validity.
func (p *publisher) look(ctx context.Context) error {
	err := p.lookAtFile(ctx)
	if time.Since(p.p.Head().Time) > p.o.Valid/3 {
		if _, renewed := p.p.Renew(ctx); renewed != nil {
			return renewed
		}
	}
	return err
}

// lookAtFile publishes the file if it has changed. The error of a file that was refused remains until it changes.
func (p *publisher) lookAtFile(ctx context.Context) error {
	info, err := os.Stat(p.file)
	if err != nil {
		return err
	}
	if p.read != nil && os.SameFile(info, p.read) && info.ModTime().Equal(p.read.ModTime()) && info.Size() == p.read.Size() {
		return p.refused
	}
	p.refused = nil
	s, err := p.open()
	if err != nil {
		return err
	}
	if err := p.publish(ctx, s); err != nil {
		if _, shrunk := errors.AsType[shrunkError](err); shrunk {
			p.refused = err
		} else { // try again, also if the file does not change
			p.read = nil
		}
		return err
	}
	return nil
}
