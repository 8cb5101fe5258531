package main

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// events are the last things that happened.
type events struct {
	mu   sync.Mutex
	list []Event
}

// maxEvents bounds events.
const maxEvents = 50

// note adds an event.
func (d *Demo) note(format string, args ...any) {
	e := Event{time.Since(d.begin).Seconds(), fmt.Sprintf(format, args...)}
	d.events.mu.Lock()
	defer d.events.mu.Unlock()
	d.events.list = append(d.events.list, e)
	if n := len(d.events.list); n > maxEvents {
		d.events.list = slices.Clone(d.events.list[n-maxEvents:])
	}
}

// all returns the events in the order of their times.
func (e *events) all() []Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.list)
}
