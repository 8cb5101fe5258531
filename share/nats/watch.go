package nats

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/share"
)

const (
	// sequenceHeader has the number of a record in the stream, and objectHeader the name and the
	// length of the object that follows the record.
	sequenceHeader = "Umbel-Sequence"
	objectHeader   = "Umbel-Object"
)

const (
	// watchTime is how long WatchRecord waits, on average.
	watchTime = 30 * time.Second
	// keptObjects is the number of objects that are kept because a subscriber may need them soon.
	keptObjects = 4
	// Messages that arrive while the client is busy wait up to these limits, and are then dropped.
	pendingMessages, pendingBytes = 256, 8 << 20
)

// watch is what a source has received without a request.
type watch struct {
	mu            sync.Mutex
	closed        bool
	subscriptions map[string]*nats.Subscription // by record, after its first WatchRecord
	status        chan nats.Status              // nil without subscriptions
	// epoch counts subscriptions, reconnections and messages that contradict what was seen: messages before may be missing.
	epoch   int
	records map[string]*seen
	objects map[string][]byte
	order   []string      // the names of objects, the oldest first
	changed chan struct{} // closed when a message arrives or epoch changes
}

// seen is the newest version of a record that a source has seen.
type seen struct {
	sequence uint64
	data     []byte
	epoch    int  // in which it was requested last
	offered  bool // it came by a message, and WatchRecord has returned it
}

func newWatch() watch {
	return watch{subscriptions: make(map[string]*nats.Subscription), records: make(map[string]*seen),
		objects: make(map[string][]byte), changed: make(chan struct{})}
}

// wake wakes those who wait. The caller holds mu.
func (w *watch) wake() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// see returns what was seen of a record. The caller holds mu.
func (w *watch) see(name string) *seen {
	if w.records[name] == nil {
		w.records[name] = &seen{epoch: -1}
	}
	return w.records[name]
}

// Record returns a record.
func (s *Source) Record(ctx context.Context, name string) ([]byte, error) {
	if err := share.CheckRecord(name); err != nil {
		return nil, err
	}
	s.mu.Lock()
	before, epoch := s.see(name).sequence, s.epoch
	s.mu.Unlock()
	m, err := s.get(ctx, s.o.record(name), before)
	if err == nil && len(m.data) > share.MaxRecord {
		err = sentinel.Errorf(share.ErrCorrupt, "record %s has %d bytes, want at most %d", name, len(m.data), share.MaxRecord)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.see(name).epoch = -1 // WatchRecord requests it again
		return nil, err
	}
	// The leader may have an older one than a message stated, if the stream was replaced.
	if r := s.see(name); m.sequence >= r.sequence || r.sequence == before {
		*r = seen{sequence: m.sequence, data: m.data, epoch: epoch}
	}
	return m.data, nil
}

// WatchRecord returns a record when it differs from last, and as it is after about 30 seconds.
func (s *Source) WatchRecord(ctx context.Context, name string, last []byte) ([]byte, error) {
	if err := share.CheckRecord(name); err != nil {
		return nil, err
	}
	if err := s.subscribe(name); err != nil {
		return nil, err
	}
	end := time.NewTimer(watchTime*3/4 + rand.N(watchTime/2))
	defer end.Stop()
	for {
		s.mu.Lock()
		r, changed, closed := s.see(name), s.changed, s.closed
		isNew, offered, current := r.data != nil && !bytes.Equal(r.data, last), r.offered, r.epoch == s.epoch
		data := r.data
		if isNew && !offered {
			r.offered = true
		}
		s.mu.Unlock()
		switch {
		case closed:
			return nil, errClosed
		case isNew && !offered:
			return data, nil
		case isNew || !current:
			// The caller did not accept what a message contained, or messages may be missing.
			b, err := s.Record(ctx, name)
			if err != nil || isNew || !bytes.Equal(b, last) {
				return b, err
			}
		}
		select {
		case <-changed:
		case <-end.C:
			return s.Record(ctx, name)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// subscribe subscribes to the messages with a record, once.
func (s *Source) subscribe(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.subscriptions[name] != nil {
		return nil
	}
	sub, err := s.nc.Subscribe(s.o.live(name), s.receive)
	if err != nil {
		return err
	}
	sub.SetPendingLimits(pendingMessages, pendingBytes)
	s.subscriptions[name] = sub
	s.epoch++
	if s.status == nil {
		s.status = s.nc.StatusChanged(nats.CONNECTED)
		go s.reconnected(s.status)
	}
	return nil
}

// reconnected notes reconnections.
func (s *Source) reconnected(status <-chan nats.Status) {
	for range status {
		s.mu.Lock()
		s.epoch++
		s.wake()
		s.mu.Unlock()
	}
}

// receive receives a record and perhaps an object. It returns soon, so that messages do not wait.
func (s *Source) receive(m *nats.Msg) {
	name := strings.TrimPrefix(m.Subject, s.o.live(""))
	sequence, err := strconv.ParseUint(m.Header.Get(sequenceHeader), 10, 64)
	if err != nil || share.CheckRecord(name) != nil {
		return
	}
	record, objectName, object, ok := splitObject(m.Data, m.Header.Get(objectHeader))
	if !ok || len(record) > share.MaxRecord {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if objectName != "" {
		s.keep(objectName, object)
	}
	switch r := s.see(name); {
	case sequence > r.sequence:
		*r = seen{sequence: sequence, data: record, epoch: r.epoch}
		s.wake()
	case sequence < r.sequence:
		// The message is late, or the stream was replaced and counts from the beginning: a request finds out.
		s.epoch++
		s.wake()
	}
}

// splitObject splits a message into a record and an object, whose name it verifies.
func splitObject(data []byte, header string) (record []byte, name string, object []byte, ok bool) {
	if header == "" {
		return data, "", nil, true
	}
	name, length, _ := strings.Cut(header, " ")
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 || n > len(data) {
		return nil, "", nil, false
	}
	record, object = data[:len(data)-n], data[len(data)-n:]
	return record, name, object, share.RefOf(object).Hash.String() == name
}

// keep keeps an object, and drops the oldest one. The caller holds mu.
func (w *watch) keep(name string, object []byte) {
	if w.objects[name] != nil {
		return
	}
	w.objects[name] = object
	w.order = append(w.order, name)
	if len(w.order) > keptObjects {
		delete(w.objects, w.order[0])
		w.order = w.order[1:]
	}
}

// Close ends the subscription. It does not close the connection.
func (s *Source) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.wake()
	if s.status == nil {
		return nil
	}
	s.nc.RemoveStatusListener(s.status)
	for _, sub := range s.subscriptions {
		if err := sub.Unsubscribe(); err != nil && !s.nc.IsClosed() {
			return err
		}
	}
	return nil
}
