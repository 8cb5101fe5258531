package export

import (
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/wire"
)

// maxIDs is the number of filters whose IDs are cached.
const maxIDs = 4096

// idOf is the ID of one version of a filter.
type idOf struct {
	version uint64
	id      wire.ID
}

// ID returns the ID of the filter if it is cached for the current version.
func (s *Service) ID(f *engine.Filter) (wire.ID, bool) {
	version := f.Version()
	s.mu.Lock()
	defer s.mu.Unlock()
	is, ok := s.ids[f.ID()]
	return is.id, ok && is.version == version
}

// setID caches an ID. If there are too many, it replaces any other.
func (s *Service) setID(f *engine.Filter, is idOf) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.ids[f.ID()]; !known && len(s.ids) >= maxIDs {
		for other := range s.ids {
			delete(s.ids, other)
			break
		}
	}
	s.ids[f.ID()] = is
}
