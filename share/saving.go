package share

import "time"

// A subscriber with a limit begins an update when it has saved for what the update will take then: versions
// that are published meanwhile make it longer, and an update that must be given up wastes a head and an index.

// afford is meter.afford for objects of a head. If the bytes must wait, the next update waits until all that it
// takes is saved.
func (s *Subscriber) afford(h *Head, bytes uint64) error {
	err := s.meter.afford(bytes)
	if err != nil {
		s.needed = s.grown(h, s.meter.received.Load()-s.spent+bytes, 0)
	}
	return err
}

// affordIndexed is afford for an index of a head and what it leads to, before the index is fetched. Other ways
// from the base than by the index are always affordable.
func (s *Subscriber) affordIndexed(h *Head, base *start) error {
	if base == nil || h.Version-base.version <= uint64(len(h.Deltas)) {
		return nil
	}
	c := h.class()
	return s.afford(h, 2*h.Index.Bytes+min(longWay(c.Delta*(h.Version-base.version)), c.Snapshot))
}

// nextBytes returns the bytes to save before the update after a head of some bytes. Saving them ends at the half of
// the head's validity: it may have to be renewed only.
func (s *Subscriber) nextBytes(h *Head, head uint64) uint64 {
	if s.meter.limit == 0 {
		return 0
	}
	bytes := float64(s.grown(h, head, 1))
	half := h.Expires().Sub(s.o.Now()) / 2
	return uint64(max(0, min(bytes, s.meter.allowance()+float64(s.meter.limit)*max(half, time.Second).Seconds())))
}

// grown returns the bytes that an update takes when they are saved, if it took some bytes now and at least so many
// versions are published meanwhile: at most 1.5 snapshots and indexes, if these are more.
func (s *Subscriber) grown(h *Head, bytes, versions uint64) uint64 {
	c := h.class()
	most := max(bytes, 2*h.Index.Bytes+c.Snapshot+c.Snapshot/2)
	if c.Delta == 0 {
		return bytes
	}
	saved, limit := s.meter.allowance(), float64(s.meter.limit)
	for ; ; versions++ {
		needed := bytes + c.Delta*versions
		if versions > uint64(MaxHeadDeltas) {
			needed = bytes + 2*h.Index.Bytes + longWay(c.Delta*versions)
		}
		if needed >= most || versions > horizon {
			return most
		}
		if wait := max(0, float64(needed)-saved) / limit; wait*s.pace.versions <= float64(versions) {
			return needed
		}
	}
}

// longWay returns about how many bytes the deltas of the ladder take, instead of those from version to version.
func longWay(bytes uint64) uint64 { return bytes + bytes/4 }

// class returns the class of a head as the head announces it; its bytes are zero if it announces none.
func (h *Head) class() Class {
	for _, c := range h.Classes {
		if c.Fold == h.Fold {
			return c
		}
	}
	return Class{Fold: h.Fold}
}
