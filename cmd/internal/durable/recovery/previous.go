package recovery

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapshot"
)

// checkPrevious reads what the previous snapshot has and the last one has not, and adds to the report what is
// damaged. A start does not need it, unless the last snapshot is damaged.
func (r *restorer) checkPrevious(ctx context.Context, report *Report) error {
	if r.set.Previous == nil {
		return nil
	}
	last := make(map[snapshot.Reference]bool) // was read already
	if err := r.eachSegment(ctx, r.set.Current, func(_ string, s snapshot.Reference) error {
		last[s] = true
		return nil
	}); err != nil {
		return err
	}
	damaged := func(what string, err error) error {
		if !errors.Is(err, umbel.ErrCorrupt) && !errors.Is(err, snapfile.ErrUnreadable) {
			return err
		}
		if len(report.Damaged) < maxLost {
			report.Damaged = append(report.Damaged, fmt.Sprintf("the previous snapshot, which would replace a damaged one: %s: %v", what, err))
		}
		return nil
	}
	err := r.eachSegment(ctx, r.set.Previous, func(filter string, s snapshot.Reference) error {
		if last[s] {
			return nil
		}
		if _, err := r.pieces.Read(ctx, s); err != nil {
			return damaged(fmt.Sprintf("filter %q", filter), err)
		}
		return nil
	})
	if err != nil {
		err = damaged("its catalog", err)
	}
	report.Damaged = slices.Compact(report.Damaged) // of one piece there may be several segments
	return err
}

// eachSegment calls each with the segments of a snapshot and the filters that they belong to.
func (r *restorer) eachSegment(ctx context.Context, s *snapshot.Snapshot, each func(filter string, segment snapshot.Reference) error) error {
	return snapshot.ReadCatalog(ctx, r.pieces, s, func(b []byte) error {
		m, segments, err := snapshot.ReadEntry(b, Limits())
		if err != nil {
			return err
		}
		for _, s := range segments {
			if err := each(m.Name, s); err != nil {
				return err
			}
		}
		return nil
	})
}
