package slots

import "slices"

// Plan returns a map in which the shards have equal numbers of slots; those of the shards are ignored. If old is not nil, as many
// slots as possible stay where they are: with a shard that has one of the same addresses.
func Plan(shards []Shard, old *Map) *Map {
	m := &Map{Shards: slices.Clone(shards)}
	left := make([]int, len(shards)) // slots that a shard still gets
	for i := range left {
		left[i] = (i+1)*Count/len(left) - i*Count/len(left)
	}
	var free []int
	for slot := range Count {
		i := -1
		if old != nil {
			i = m.Heir(old.Shards[old.Owner(slot)])
		}
		if i < 0 || left[i] == 0 {
			free = append(free, slot)
			continue
		}
		m.owner[slot] = uint16(i)
		left[i]--
	}
	i := 0
	for _, slot := range free {
		for left[i] == 0 {
			i++
		}
		m.owner[slot] = uint16(i)
		left[i]--
	}
	for i := range m.Shards {
		m.Shards[i].Ranges = rangesOf(func(slot int) bool { return m.Owner(slot) == i })
	}
	return m
}

// Heir returns the index of the shard that has a node of s, -1 for none.
func (m *Map) Heir(s Shard) int {
	for _, n := range s.Nodes {
		if i, _, ok := m.find(n.Addr); ok {
			return i
		}
	}
	return -1
}

// Moves reports whether the filters of a slot must move from m to another shard of the map to.
func (m *Map) Moves(to *Map, slot int) bool {
	return to.Heir(m.Shards[m.Owner(slot)]) != to.Owner(slot)
}

// WithMoving returns m, in which the slots that must move to another shard of to refuse changes.
func (m *Map) WithMoving(to *Map) *Map {
	return m.withMoving(func(slot int) bool { return m.Moves(to, slot) })
}

// WithMovingFrom returns m, in which the slots that have moved from another shard of old refuse changes.
func (m *Map) WithMovingFrom(old *Map) *Map {
	return m.withMoving(func(slot int) bool { return old.Moves(m, slot) })
}

func (m *Map) withMoving(moves func(slot int) bool) *Map {
	moving := *m
	for slot := range Count {
		moving.moving[slot] = moves(slot)
	}
	return &moving
}
