package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/message"
	"github.com/umbel-filters/umbel/share"
)

// watch publishes the changes of the file until ctx ends. A file that can't be read
// or published is tried again; each reason is printed once.
func (p *publisher) watch(ctx context.Context) error {
	t := time.NewTicker(min(p.follow, p.o.Valid/3))
	defer t.Stop()
	warned := ""
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		if err := p.look(ctx); err != nil && ctx.Err() == nil {
			if errors.Is(err, share.ErrFork) {
				return err
			}
			if text := message.Of(err); text != warned {
				warn(p.cmd, "%s; the last version remains published", text)
				warned = text
			}
		} else {
			warned = ""
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

// lookAtFile publishes the file if it has changed.
func (p *publisher) lookAtFile(ctx context.Context) error {
	info, err := os.Stat(p.file)
	if err != nil {
		return err
	}
	if p.read != nil && os.SameFile(info, p.read) && info.ModTime().Equal(p.read.ModTime()) && info.Size() == p.read.Size() {
		return nil
	}
	s, err := p.open()
	if err != nil {
		return err
	}
	if err := p.publish(ctx, s); err != nil {
		if _, shrunk := errors.AsType[shrunkError](err); !shrunk { // try again, also if the file does not change
			p.read = nil
		}
		return err
	}
	return nil
}
