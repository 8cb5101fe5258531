package nats

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/umbel-filters/umbel/internal/pause"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/share"
)

const (
	// publishTime is how long a message is sent again, for example during an election.
	publishTime = 20 * time.Second
	// attemptTime is how long an attempt waits for the confirmation.
	attemptTime = 2 * time.Second
	// pushedObject is the maximum number of bytes of an object that is sent with a record.
	pushedObject = 32 << 10
	// keptRecent is the number of objects that are kept until a record refers to one of them: those of a
	// version of several fold classes.
	keptRecent = 256
)

// Store reads and writes a publication. It is safe for concurrent use.
//
// Messages are sent one at a time, and again until the server has confirmed them, for up to 20
// seconds. A record that another process has replaced since this one read or wrote it is not
// overwritten: the error of PutRecord wraps share.ErrFork.
type Store struct {
	*Source
	js     jetstream.JetStream
	stream jetstream.Stream
	mu     sync.Mutex // for writing records
	// sequences are those of the records, as they were read or written last.
	sequences map[string]uint64
	recent    map[string][]byte // small objects that were committed last
}

var _ share.Store = (*Store)(nil)

// Create returns the store of a publication. It makes the stream if there is none, and does not
// change one that exists, which must have AllowDirect, MaxMsgsPerSubject 1, and subjects that include
// SUBJECT.record.*, SUBJECT.object.* and SUBJECT.part.*.*. It removes large objects that an interrupted
// publisher left more than a day ago. The caller closes the store.
func Create(ctx context.Context, js jetstream.JetStream, o Options) (*Store, error) {
	source, err := Open(js, o)
	if err != nil {
		return nil, err
	}
	s := &Store{Source: source, js: js, sequences: make(map[string]uint64), recent: make(map[string][]byte)}
	if s.stream, err = openStream(ctx, js, o); err != nil {
		return nil, err
	}
	if err := s.removeInterrupted(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// openStream returns the stream, and makes it if there is none.
func openStream(ctx context.Context, js jetstream.JetStream, o Options) (jetstream.Stream, error) {
	stream, err := js.Stream(ctx, o.Stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		stream, err = js.CreateStream(ctx, jetstream.StreamConfig{
			Name: o.Stream, Subjects: []string{o.record("*"), o.object("*"), o.parts("*") + ".*"},
			Replicas: max(1, o.Replicas), MaxBytes: cmp.Or(o.MaxBytes, -1), MaxMsgsPerSubject: 1,
			AllowDirect: true, Discard: jetstream.DiscardNew,
		})
	}
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", o.Stream, err)
	}
	if c := stream.CachedInfo().Config; !c.AllowDirect || c.MaxMsgsPerSubject != 1 {
		return nil, fmt.Errorf("stream %s has AllowDirect %v and MaxMsgsPerSubject %d, want true and 1", o.Stream, c.AllowDirect, c.MaxMsgsPerSubject)
	}
	return stream, nil
}

// Record returns a record as the leader of the stream has it.
func (s *Store) Record(ctx context.Context, name string) ([]byte, error) {
	if err := share.CheckRecord(name); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.fromLeader(ctx, s.o.record(name))
	if errors.Is(err, share.ErrNotFound) {
		s.sequences[name] = 0
	}
	if err != nil {
		return nil, err
	}
	s.sequences[name] = m.sequence
	return m.data, nil
}

// PutRecord replaces a record, and sends it to the sources that watch if it has heads.
func (s *Store) PutRecord(ctx context.Context, name string, data []byte) error {
	if err := cmp.Or(share.CheckRecord(name), ctx.Err()); err != nil {
		return err
	}
	if len(data) > share.MaxRecord {
		return sentinel.Errorf(share.ErrCorrupt, "record %s has %d bytes, want at most %d", name, len(data), share.MaxRecord)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var o []jetstream.PublishOpt
	if last, ok := s.sequences[name]; ok {
		o = append(o, jetstream.WithExpectLastSequencePerSubject(last))
	}
	sequence, err := s.publish(ctx, &nats.Msg{Subject: s.o.record(name), Data: data}, o...)
	if err != nil {
		return err
	}
	s.sequences[name] = sequence
	if share.IsHead(name) {
		s.push(name, sequence, data)
	}
	return nil
}

// push sends a record to the sources that watch, with the object that most of them need. If that
// fails, they are late.
func (s *Store) push(name string, sequence uint64, record []byte) {
	m := nats.NewMsg(s.o.live(name))
	m.Header.Set(sequenceHeader, fmt.Sprint(sequence))
	m.Data = record
	delta := firstDelta(record)
	if b, ok := s.recent[delta]; ok {
		m.Header.Set(objectHeader, fmt.Sprintf("%s %d", delta, len(b)))
		m.Data = append(bytes.Clone(record), b...)
	}
	delete(s.recent, delta)
	_ = s.nc.PublishMsg(m)
}

// firstDelta returns the name of the delta from the version before, if a record is a head that has one.
func firstDelta(record []byte) string {
	for line := range strings.Lines(string(record)) {
		if f := strings.Fields(line); len(f) == 4 && f[0] == "delta" && f[1] == "1" {
			return f[3]
		}
	}
	return ""
}

// noteRecent keeps a small object until the next record.
func (s *Store) noteRecent(name string, data []byte) {
	if len(data) > pushedObject {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.recent) >= keptRecent {
		clear(s.recent)
	}
	s.recent[name] = data
}

// publish sends a message to the stream until it is confirmed, and returns its number.
func (s *Store) publish(ctx context.Context, m *nats.Msg, o ...jetstream.PublishOpt) (uint64, error) {
	end := time.Now().Add(publishTime)
	for wait := (pause.Doubling{First: 50 * time.Millisecond, Most: attemptTime}); ; {
		attempt, cancel := context.WithTimeout(ctx, attemptTime)
		ack, err := s.js.PublishMsg(attempt, m, o...)
		cancel()
		if err == nil {
			return ack.Sequence, nil
		}
		var refused *jetstream.APIError
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case errors.As(err, &refused) && isConflict(refused.ErrorCode):
			return s.resolve(ctx, m)
		case errors.As(err, &refused) && refused.Code != 503, time.Now().After(end):
			return 0, fmt.Errorf("%s: %w", m.Subject, err)
		}
		pause.For(ctx, wait.Next())
	}
}

func isConflict(code jetstream.ErrorCode) bool {
	return code == jetstream.JSErrCodeStreamWrongLastSequence || code == jetstream.JSErrCodeStreamWrongLastSequenceConstant
}

// resolve returns the number of a message if an earlier attempt was stored without a
// confirmation. Otherwise another process has written.
func (s *Store) resolve(ctx context.Context, m *nats.Msg) (uint64, error) {
	stored, err := s.fromLeader(ctx, m.Subject)
	if err == nil && bytes.Equal(stored.data, m.Data) {
		return stored.sequence, nil
	}
	if err == nil || errors.Is(err, share.ErrNotFound) {
		err = fmt.Errorf("%s was changed by another process: %w", m.Subject, share.ErrFork)
	}
	return 0, err
}

// Objects yields the names of all objects.
func (s *Store) Objects(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		subjects, err := s.subjects(ctx, s.o.object("*"))
		if err != nil {
			yield("", err)
			return
		}
		for subject := range subjects {
			name := strings.TrimPrefix(subject, s.o.object(""))
			if share.CheckObject(name) == nil && !yield(name, nil) {
				return
			}
		}
	}
}

// subjects returns the subjects that match a pattern.
func (s *Store) subjects(ctx context.Context, pattern string) (map[string]uint64, error) {
	info, err := s.stream.Info(ctx, jetstream.WithSubjectFilter(pattern))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", pattern, err)
	}
	return info.State.Subjects, nil
}

// Remove removes an object, then its parts.
func (s *Store) Remove(ctx context.Context, name string) error {
	if err := share.CheckObject(name); err != nil {
		return err
	}
	m, err := s.fromLeader(ctx, s.o.object(name))
	if errors.Is(err, share.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.purge(ctx, s.o.object(name)); err != nil {
		return err
	}
	if id, _, _, err := parseParts(m.header.Get(partsHeader)); err == nil {
		return s.purge(ctx, s.o.parts(id)+".*")
	}
	return nil
}

func (s *Store) purge(ctx context.Context, subject string) error {
	if err := s.stream.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
		return fmt.Errorf("remove %s: %w", subject, err)
	}
	return nil
}
