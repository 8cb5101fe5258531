package siblings

// wheelSlots is the number of seconds ahead for which a wheel has a slot each.
const wheelSlots = 1 << 10

// wheel lists hashes by the second at which they have to be looked at: 8 bytes each. Those of a later time than the wheel
// has slots are in the last one, and are added again from there. A hash may be in it more than once, and stays when it
// is removed from the set: the set decides what a hash that is due means.
type wheel struct {
	slots [wheelSlots][]uint64
	next  int64 // the first second whose slot was not due
	n     int
}

// add lists a hash for a second.
func (w *wheel) add(hash uint64, second int64) {
	i := min(max(second, w.next), w.next+wheelSlots-1) % wheelSlots
	w.slots[i] = append(w.slots[i], hash)
	w.n++
}

// advance calls due for each hash of the seconds up to now. due may add hashes for later seconds.
func (w *wheel) advance(now int64, due func(hash uint64)) {
	for w.next <= now {
		var lists [][]uint64
		if now-w.next < wheelSlots {
			lists, w.next = w.take(w.next, 1), w.next+1
		} else { // the machine was suspended: all slots are due
			lists, w.next = w.take(0, wheelSlots), now+1
		}
		for _, list := range lists {
			for _, hash := range list {
				due(hash)
			}
		}
	}
}

// take empties the slots of some seconds, and returns what they contained.
func (w *wheel) take(second, count int64) (lists [][]uint64) {
	for s := second; s < second+count; s++ {
		slot := &w.slots[s%wheelSlots]
		if len(*slot) > 0 {
			lists = append(lists, *slot)
			w.n -= len(*slot)
			*slot = nil
		}
	}
	return lists
}
