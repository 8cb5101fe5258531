package resp

// loopShift is a shift of a loop. One of them runs the loop; the others run rounds that wait for something.
type loopShift struct {
	loop *loop

	// guarded by loop.mu
	ready    []*socket // whose round comes next, from index at
	at       int
	deferred []*socket // whose replies wait for the disk
	poll     bool      // runs the loop

	_ [56]byte // two cache lines: the next shift may be of another loop
}

// run runs rounds until there are none.
func (w *loopShift) run() {
	for s := w.next(); s != nil; s = w.next() {
		s.conn.shift = w
		s.conn.round()
		w.settle(s)
	}
}

// next returns the connection whose round comes next. If the shift runs the loop, it waits for one.
func (w *loopShift) next() *socket {
	l := w.loop
	l.mu.Lock()
	defer l.mu.Unlock()
	for w.at == len(w.ready) {
		if !w.poll {
			return nil
		}
		if len(w.deferred) > 0 {
			go (&loopShift{loop: l, ready: w.deferred}).run()
			w.deferred = nil
		}
		l.waits = true
		l.mu.Unlock()
		err := l.wait()
		l.mu.Lock()
		l.waits = false
		if err != nil {
			return nil
		}
		w.collect()
		if !l.watched {
			l.watched = true
			go l.watch()
		}
	}
	s := w.ready[w.at]
	w.at++
	l.rounds++
	return s
}

// collect notes the events. The caller holds loop.mu.
func (w *loopShift) collect() {
	w.ready, w.at = w.ready[:0], 0
	for _, e := range w.loop.events[:w.loop.n] {
		s := w.loop.sockets[e.Fd]
		if s == nil {
			continue
		}
		s.note(e.Events)
		if s.parked {
			s.parked = false
			w.ready = append(w.ready, s)
		}
	}
}

// settle decides what happens to a connection after its round.
func (w *loopShift) settle(s *socket) {
	c, l := s.conn, w.loop
	if c.ended {
		l.forget(s)
		l.s.end(c)
		return
	}
	c.release()
	l.mu.Lock()
	defer l.mu.Unlock()
	unsent, again := c.scratch != nil && c.replies > 0, c.more || s.hasInput()
	switch {
	case unsent && w.poll:
		w.deferred = append(w.deferred, s)
	case unsent:
		w.ready = append(w.ready, s)
	default:
		if s.parked = true; again {
			l.again(s)
		}
	}
}

func (w *loopShift) polls() bool {
	w.loop.mu.Lock()
	defer w.loop.mu.Unlock()
	return w.poll
}

func (w *loopShift) leave() {
	w.loop.mu.Lock()
	defer w.loop.mu.Unlock()
	w.relieve()
}

// relieve makes another goroutine do what is left of the shift after the current round. The caller holds
// loop.mu.
func (w *loopShift) relieve() {
	if !w.poll && w.at == len(w.ready) {
		return
	}
	next := &loopShift{loop: w.loop, ready: w.ready[w.at:], deferred: w.deferred, poll: w.poll}
	w.ready, w.at, w.deferred, w.poll = nil, 0, nil, false
	if next.poll {
		w.loop.shift = next
	}
	go next.run()
}
