// Package lognats keeps a shared log in a stream of NATS with JetStream. The value of the key a/b is the message with the
// subject STREAM.a.b; the stream has at most one message of each subject, and refuses a second one.
//
// Values are read from the leader of the stream, since replicas may lag. A server confirms a message before it is on
// the disk, and syncs its files every two minutes: use three replicas, and set sync_interval to always on the servers.
package lognats

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
)

// headerBytes is the room that the headers of a message need.
const headerBytes = 1 << 10

// Medium keeps a log in a stream.
type Medium struct {
	js     jetstream.JetStream
	stream jetstream.Stream
	name   string
}

var _ sharedlog.Medium = (*Medium)(nil)

// Open is the sharedlog.Opener of URLs such as nats://HOST:4222,HOST:4222/STREAM?replicas=3&credentials=FILE. It makes
// the stream if it does not exist, with 3 replicas unless the query says otherwise.
func Open(ctx context.Context, u *url.URL) (sharedlog.Medium, error) {
	name := strings.Trim(u.Path, "/")
	if name == "" || strings.ContainsAny(name, "./*> ") {
		return nil, fmt.Errorf("%s names no stream: write nats://%s/STREAM", u.Redacted(), u.Host)
	}
	replicas := 3
	if q := u.Query().Get("replicas"); q != "" {
		var err error
		if replicas, err = strconv.Atoi(q); err != nil {
			return nil, fmt.Errorf("replicas: %w", err)
		}
	}
	o := []nats.Option{nats.Name("umbel " + name), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true)}
	if file := u.Query().Get("credentials"); file != "" {
		o = append(o, nats.UserCredentials(file))
	}
	servers := url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host}
	nc, err := nats.Connect(servers.String(), o...)
	if err != nil {
		return nil, err
	}
	m, err := New(ctx, nc, name, replicas)
	if err != nil {
		nc.Close()
		return nil, err
	}
	return m, nil
}

// New returns the medium in a stream, which it makes with a number of replicas if it does not exist.
func New(ctx context.Context, nc *nats.Conn, name string, replicas int) (*Medium, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	want := jetstream.StreamConfig{
		Name: name, Subjects: []string{name + ".>"}, Replicas: replicas, Storage: jetstream.FileStorage,
		MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, MaxMsgSize: sharedlog.MaxValue + headerBytes,
	}
	stream, err := js.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		stream, err = js.CreateStream(ctx, want)
	}
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", name, err)
	}
	if limit := nc.MaxPayload(); limit < sharedlog.MaxValue+headerBytes {
		return nil, fmt.Errorf("the servers take messages of at most %d bytes, want %d: increase max_payload", limit, sharedlog.MaxValue+headerBytes)
	}
	c := stream.CachedInfo().Config
	if !slices.Equal(c.Subjects, want.Subjects) || c.MaxMsgsPerSubject != 1 || !c.DiscardNewPerSubject || c.AllowDirect || c.MaxAge != 0 ||
		c.Retention != want.Retention || c.Storage != want.Storage {
		return nil, fmt.Errorf("stream %s was not made by umbel, or was changed: it needs subjects %s, storage in files, limits as its retention, "+
			"1 message per subject, discard new per subject, no age and no direct get", name, want.Subjects[0])
	}
	return &Medium{js, stream, name}, nil
}

func (m *Medium) subject(key string) string { return m.name + "." + strings.ReplaceAll(key, "/", ".") }

// Put publishes a message, on the condition that its subject has none.
func (m *Medium) Put(ctx context.Context, key string, data []byte) error {
	_, err := m.js.PublishMsg(ctx, &nats.Msg{Subject: m.subject(key), Data: data},
		jetstream.WithExpectLastSequencePerSubject(0), jetstream.WithRetryAttempts(0), jetstream.WithExpectStream(m.name))
	var refused *jetstream.APIError
	if errors.As(err, &refused) && refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		return fmt.Errorf("%s: %w", key, sharedlog.ErrExists)
	}
	return describe(key, err)
}

// Get returns the message of a subject.
func (m *Medium) Get(ctx context.Context, key string) ([]byte, error) {
	msg, err := m.stream.GetLastMsgForSubject(ctx, m.subject(key))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, fmt.Errorf("%s: %w", key, sharedlog.ErrNone)
	}
	if err != nil {
		return nil, describe(key, err)
	}
	return msg.Data, nil
}

// List returns the subjects of the stream.
func (m *Medium) List(ctx context.Context, prefix string) (all []string, err error) {
	token, _, ok := strings.Cut(prefix, "/")
	if !ok {
		return nil, fmt.Errorf("the prefix %q contains no slash", prefix)
	}
	info, err := m.stream.Info(ctx, jetstream.WithSubjectFilter(m.name+"."+token+".>"))
	if err != nil {
		return nil, describe("list "+prefix, err)
	}
	for subject := range info.State.Subjects {
		if key := strings.ReplaceAll(strings.TrimPrefix(subject, m.name+"."), ".", "/"); strings.HasPrefix(key, prefix) {
			all = append(all, key)
		}
	}
	slices.Sort(all)
	return all, nil
}

// Delete removes the message of a subject.
func (m *Medium) Delete(ctx context.Context, key string) error {
	return describe(key, m.stream.Purge(ctx, jetstream.WithPurgeSubject(m.subject(key))))
}

func describe(key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", key, err)
}
