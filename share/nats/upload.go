package nats

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/share"
)

const (
	// messageRest is what a message has in addition to a part: subject and headers.
	messageRest = 4 << 10
	// closeTime bounds the removal of the parts of an incomplete object.
	closeTime = 10 * time.Second
	// interruptedAge is the age at which parts without an object are taken for what an interrupted
	// publisher left. Younger ones may be those of an upload at this moment.
	interruptedAge = 24 * time.Hour
	// idTime is the number of hexadecimal digits of the time of an ID.
	idTime = 12
)

// newID returns an ID for the parts of a large object: the time in milliseconds, and a random text.
func newID(now time.Time) string { return fmt.Sprintf("%0*x%s", idTime, now.UnixMilli(), rand.Text()) }

// isID reports whether s can be an ID.
func isID(s string) bool {
	_, err := idBegan(s)
	return err == nil
}

// idBegan returns when an upload began.
func idBegan(id string) (time.Time, error) {
	alphanumeric := func(c rune) bool { return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }
	if len(id) != idTime+26 || strings.TrimFunc(id, alphanumeric) != "" {
		return time.Time{}, sentinel.Errorf(share.ErrCorrupt, "%.40q is not the ID of an upload", id)
	}
	ms, err := strconv.ParseInt(id[:idTime], 16, 64)
	return time.UnixMilli(ms), err
}

// NewObject begins an object. Its parts are sent as they are written, so memory is needed for one.
func (s *Store) NewObject(ctx context.Context) (share.Upload, error) {
	part := min(maxPart, int(s.nc.MaxPayload())-messageRest)
	if part < 1 {
		return nil, fmt.Errorf("the server accepts messages of %d bytes, want more than %d", s.nc.MaxPayload(), messageRest)
	}
	return &upload{s: s, ctx: ctx, part: part}, nil
}

// upload writes an object.
type upload struct {
	s         *Store
	ctx       context.Context
	part      int
	buf       bytes.Buffer // at most a part
	id        string       // of a large object
	sent      int64        // the number of parts
	size      int64
	committed bool
}

func (u *upload) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		if u.buf.Len() == u.part {
			if err := u.flush(u.ctx); err != nil {
				return n - len(b), err
			}
		}
		k := min(len(b), u.part-u.buf.Len())
		u.buf.Write(b[:k])
		u.size += int64(k)
		b = b[k:]
	}
	return n, nil
}

// flush sends a part.
func (u *upload) flush(ctx context.Context) error {
	if u.id == "" {
		u.id = newID(time.Now())
	}
	if _, err := u.s.publish(ctx, &nats.Msg{Subject: u.s.o.part(u.id, u.sent), Data: u.buf.Bytes()}); err != nil {
		return err
	}
	u.sent++
	u.buf.Reset()
	return nil
}

// Commit sends the message that makes the object readable: its bytes, or a description of its parts.
func (u *upload) Commit(ctx context.Context, name string) error {
	if err := cmp.Or(share.CheckObject(name), ctx.Err()); err != nil {
		return err
	}
	m := nats.NewMsg(u.s.o.object(name))
	if u.id == "" {
		m.Data = u.buf.Bytes()
	} else {
		if u.buf.Len() > 0 {
			if err := u.flush(ctx); err != nil {
				return err
			}
		}
		m.Header.Set(partsHeader, formatParts(u.id, u.size, int64(u.part)))
	}
	if _, err := u.s.publish(ctx, m); err != nil {
		return err
	}
	u.committed = true
	if u.id == "" {
		u.s.noteRecent(name, m.Data)
	}
	return nil
}

// Close removes the parts, unless Commit succeeded.
func (u *upload) Close() error {
	if u.id == "" || u.committed {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(u.ctx), closeTime)
	defer cancel()
	return u.s.purge(ctx, u.s.o.parts(u.id)+".*")
}

// removeInterrupted removes old parts that belong to no object.
func (s *Store) removeInterrupted(ctx context.Context) error {
	subjects, err := s.subjects(ctx, s.o.parts("*")+".*")
	if err != nil {
		return err
	}
	old := make(map[string]bool)
	for subject := range subjects {
		id, _, _ := strings.Cut(strings.TrimPrefix(subject, s.o.parts("")), ".")
		if began, err := idBegan(id); err == nil && time.Since(began) > interruptedAge {
			old[id] = true
		}
	}
	if len(old) == 0 {
		return nil
	}
	for name, err := range s.Objects(ctx) {
		if err != nil {
			return err
		}
		m, err := s.fromLeader(ctx, s.o.object(name))
		if err != nil && !errors.Is(err, share.ErrNotFound) {
			return err
		}
		if err == nil {
			id, _, _, _ := parseParts(m.header.Get(partsHeader))
			delete(old, id)
		}
	}
	for id := range old {
		if err := s.purge(ctx, s.o.parts(id)+".*"); err != nil {
			return err
		}
	}
	return nil
}
