package multicast

import "sync"

// groups are those a node's host takes packets of.
type groups struct {
	mutex  sync.RWMutex
	joined map[uint32]struct{}
}

func (g *groups) join(group uint32) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.joined == nil {
		g.joined = map[uint32]struct{}{}
	}
	g.joined[group] = struct{}{}
}

func (g *groups) leave(group uint32) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	delete(g.joined, group)
}

func (g *groups) has(group uint32) bool {
	g.mutex.RLock()
	_, ok := g.joined[group]
	g.mutex.RUnlock()
	return ok
}
