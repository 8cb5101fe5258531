package benthos

import (
	"path/filepath"
	"sync"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/umbel-filters/umbel/connect/internal/state"
)

// sharedKey is the key of the states among the resources of a process.
type sharedKey struct{}

// states are the open states by directory, with the number of their users.
type states struct {
	mu   sync.Mutex
	open map[string]*shared
}

// shared is a state that several components use.
type shared struct {
	*state.State
	all   *states
	path  string
	users int
}

// acquire opens the state of a component, or returns the one that another component has opened.
func acquire(conf *service.ParsedConfig, mgr *service.Resources) (*shared, error) {
	o, err := stateOptions(conf)
	if err != nil {
		return nil, err
	}
	if o.Directory, err = filepath.Abs(o.Directory); err != nil {
		return nil, err
	}
	v, _ := mgr.GetOrSetGeneric(sharedKey{}, &states{open: make(map[string]*shared)})
	all := v.(*states)
	all.mu.Lock()
	defer all.mu.Unlock()
	s := all.open[o.Directory]
	if s == nil {
		opened, err := state.Open(o)
		if err != nil {
			return nil, err
		}
		s = &shared{State: opened, all: all, path: o.Directory}
		all.open[o.Directory] = s
	}
	s.users++
	return s, nil
}

// release ends the use of a component. The last one closes the state.
func (s *shared) release() error {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	if s.users--; s.users > 0 {
		return nil
	}
	delete(s.all.open, s.path)
	return s.Close()
}
