package share

import (
	"context"
	"errors"
	"time"
)

// target is a head whose version is fetched next. If its bytes must wait for the budget, it stays the target: the
// way to a later version would become longer while it is saved for. Versions are skipped instead.
type target struct {
	head    *Head
	signed  []byte
	indexes map[Ref][]byte // the index and its page, once they were fetched
}

func newTarget(h *Head, signed []byte) *target { return &target{h, signed, make(map[Ref][]byte)} }

// follow makes the version of a target the one that answers. If its bytes must wait, the next update continues with
// the target, and otherwise begins with a head.
func (s *Subscriber) follow(ctx context.Context, t *target) error {
	s.target = nil
	err := s.advance(ctx, t)
	if errors.Is(err, ErrBudget) {
		s.target = t
	}
	return err
}

// afford is meter.afford for objects of a target. If the bytes must wait, so does the next update.
func (s *Subscriber) afford(bytes uint64) error {
	err := s.meter.afford(bytes)
	if err != nil {
		s.needed = bytes
	}
	return err
}

// nextBytes returns the bytes to save before the head after h is read, of which h is about as long: those of the
// head and of a delta, so that the version is fetched while its head is new. Saving them ends at the half of the
// validity: the head may have to be renewed only.
func (s *Subscriber) nextBytes(h *Head, head uint64) uint64 {
	if s.meter.limit == 0 {
		return 0
	}
	half := h.Expires().Sub(s.o.Now()) / 2
	until := s.meter.allowance() + float64(s.meter.limit)*max(half, time.Second).Seconds()
	return uint64(max(0, min(float64(head+h.class().Delta), until)))
}

// class returns the class of a head as the head announces it; its bytes are zero if it announces none.
func (h *Head) class() Class {
	for _, c := range h.Classes {
		if c.Fold == h.Fold {
			return c
		}
	}
	return Class{Fold: h.Fold}
}
