// Package nats carries a publication over a NATS cluster with JetStream. The program connects, with
// its own credentials, to a server of version 2.11 or later.
//
// A stream keeps the last message of each subject:
//
//	SUBJECT.record.NAME      a record
//	SUBJECT.object.NAME      an object of at most 512 KiB, or the description of a larger one
//	SUBJECT.part.ID.NUMBER   a part of a larger object, at most 512 KiB
//
// Parts are shorter if the server limits messages to less. Sources read by Direct Get, which any
// replica answers and which needs no consumer. If a replica answers that a message is absent, or is
// older than another one, the source queries the leader of the stream, because the replica may lag.
//
// When a [Store] has replaced a record, it sends it to all sources that watch this record, by a message
// that is not kept:
//
//	SUBJECT.live.NAME
//
// This message also contains the delta from the version before, if it is small, so a subscriber that
// has every version sends no request. A message that is lost makes a subscriber late: it requests the
// record every 30 seconds, and after each reconnection.
//
// # Rights
//
// A subscriber may subscribe to SUBJECT.live.* and to its inbox, and publish to
// $JS.API.DIRECT.GET.STREAM.> and $JS.API.STREAM.MSG.GET.STREAM. Only the publisher may publish below
// SUBJECT: others could delay subscribers by false messages, though not deceive them.
//
// # Durability
//
// A server confirms a message before it is on the disk, and syncs its files every two minutes. If
// that matters, set sync_interval to always on the servers, or use three replicas. A publication
// that a failure has set back is noticed by its publisher, which returns an error wrapping
// share.ErrFork; a new publisher continues from what remains.
package nats

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/umbel-filters/umbel/share"
)

// Options name where a publication is. Stream and Subject are required.
type Options struct {
	// Stream is the name of the stream.
	Stream string
	// Subject is the first part of the subjects of the publication, for example "share.blocklist".
	// Several publications can be in one stream if its subjects include them all.
	Subject string
	// Replicas and MaxBytes are those of a stream that Create makes. The defaults are one replica
	// and no limit.
	Replicas int
	MaxBytes int64
}

// check returns an error unless the names can be parts of subjects.
func (o *Options) check() error {
	if o.Stream == "" || strings.ContainsAny(o.Stream, ".*> \t\r\n/\\") {
		return fmt.Errorf("%q is not the name of a stream", o.Stream)
	}
	if strings.ContainsAny(o.Subject, "*> \t\r\n") {
		return fmt.Errorf("the subject %q has a space or a wildcard", o.Subject)
	}
	for token := range strings.SplitSeq(o.Subject, ".") {
		if token == "" {
			return fmt.Errorf("the subject %q has an empty token", o.Subject)
		}
	}
	return nil
}

func (o *Options) record(name string) string { return o.Subject + ".record." + name }
func (o *Options) object(name string) string { return o.Subject + ".object." + name }
func (o *Options) live(name string) string   { return o.Subject + ".live." + name }
func (o *Options) parts(id string) string    { return o.Subject + ".part." + id }

func (o *Options) part(id string, number int64) string {
	return fmt.Sprintf("%s.%d", o.parts(id), number)
}

// Source reads a publication. It is safe for concurrent use.
type Source struct {
	o   Options
	nc  *nats.Conn
	api string // the prefix of the subjects of JetStream's API
	watch
}

var (
	_ share.Source  = (*Source)(nil)
	_ share.Watcher = (*Source)(nil)
)

var errClosed = errors.New("the source is closed")

// Open returns the source of a publication. It sends nothing; the stream need not exist yet. The
// caller closes it.
func Open(js jetstream.JetStream, o Options) (*Source, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	api := js.Options().APIPrefix
	if d := js.Options().Domain; d != "" {
		api = "$JS." + d + ".API."
	}
	if api == "" {
		api = jetstream.DefaultAPIPrefix
	}
	if !strings.HasSuffix(api, ".") {
		api += "."
	}
	return &Source{o: o, nc: js.Conn(), api: api, watch: newWatch()}, nil
}
