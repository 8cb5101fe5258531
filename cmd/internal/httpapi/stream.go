package httpapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/access"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

const (
	// readBytes is how much of a stream is read at once.
	readBytes = 64 << 10
	// maxKey is the longest key of a stream, in bytes, with what is around it.
	maxKey = 1 << 20
)

// trailerProblem is the trailer that has the problem, as JSON, of a stream that ended early.
const trailerProblem = "Umbel-Problem"

// stream is a request whose keys are answered as they come.
type stream struct {
	*call
	verb
	codec
	filter  *engine.Filter
	hasher  umbel.Hasher
	minimal bool // all that is asked for is how many there were

	in    []byte // what was read and not yet taken
	batch batch
	out   []byte // answers of what was read last
	sums  sums
}

// stream answers keys as they come: what one read brings is done, kept and answered before
// the next. It takes the same memory however long it lasts.
func (v verb) stream(c *call, f *engine.Filter, how codec) error {
	s := stream{
		call: c, verb: v, codec: how, filter: f, hasher: f.Hasher(), minimal: prefersMinimal(c.request),
		in: make([]byte, 0, readBytes),
	}
	s.batch.ds = make([]umbel.Digest, 0, batchKeys)
	if !s.minimal {
		_ = c.rc.EnableFullDuplex() // HTTP/2 has it anyway
	}
	err := s.run()
	switch {
	case err != nil && !c.begun():
		s.closeAfter()
		return partial{err, s.sums.Keys}
	case err != nil:
		return s.fail(err)
	case s.minimal:
		return c.minimal(s.sums)
	}
	s.head()
	return nil
}

// head sends what comes before the first answer.
func (s *stream) head() {
	if s.begun() {
		return
	}
	h := s.Header()
	h.Set("Content-Type", s.media)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // proxies are to pass on answers as they come
	h.Set("Trailer", trailerProblem)
	if s.request.ContentLength < 0 {
		s.closeAfter() // the end may come before that of the request
	}
	s.WriteHeader(http.StatusOK)
}

// closeAfter says that the connection ends with the answer. A server closes it where part
// of the request was not read, and a client that isn't told would use it again.
func (s *stream) closeAfter() {
	if s.request.ProtoMajor == 1 {
		s.Header().Set("Connection", "close")
	}
}

func (s *stream) run() error {
	body := s.streamed()
	for ended := false; !ended; {
		if len(s.in) == cap(s.in) {
			if len(s.in) >= maxKey {
				return problemf(tooLarge, "a key is longer than %d bytes", maxKey)
			}
			s.in = append(make([]byte, 0, 2*cap(s.in)), s.in...)
		}
		n, err := body.Read(s.in[len(s.in):cap(s.in)])
		s.in = s.in[:len(s.in)+n]
		if ended = err == io.EOF; err != nil && !ended {
			return unread(err)
		}
		if err := s.check(); err != nil {
			return err
		}
		if err := s.take(ended); err != nil {
			return err
		}
	}
	return nil
}

// check returns an error unless what was so when the stream began still is: the filter is
// there, and the user may do this to it.
func (s *stream) check() error {
	if l := s.Rates.of(s.request.RemoteAddr); l != nil {
		if err := l.Wait(s.request.Context()); err != nil {
			return problemf(tooMany, "%w", err)
		}
	}
	if !s.has(s.route.right, s.name) {
		return fmt.Errorf("the right was taken away: %w", access.ErrDenied)
	}
	now, err := s.call.filter()
	if err != nil {
		return err
	}
	if now != s.filter || now.Hasher() != s.hasher {
		return fmt.Errorf("%q is another filter than when the stream began: %w", s.name, engine.ErrNotFound)
	}
	return nil
}

// take does what is to be done with all keys that have come, waits until it is kept, and
// sends the answers. Where it fails, those of the keys before are sent too, if they are
// kept.
func (s *stream) take(ended bool) error {
	s.out = s.out[:0]
	rest, pos, done, err := s.in, engine.Position(0), s.sums, error(nil)
	for more := true; more && err == nil; {
		var parseErr, runErr error
		rest, more, parseErr = s.parse(rest, ended)
		if len(s.batch.ds) > 0 {
			var at engine.Position
			at, runErr = s.do(s.filter, &s.batch)
			pos = max(pos, at)
			done.add(s.verb, &s.batch)
			s.answer()
		}
		if err = runErr; err == nil {
			err = parseErr
		}
	}
	s.in = s.in[:copy(s.in[:cap(s.in)], rest)]
	if keptErr := s.kept(pos); keptErr != nil {
		return keptErr
	}
	s.sums = done
	if s.minimal || len(s.out) == 0 || err != nil && !s.begun() {
		return err
	}
	s.head()
	if _, writeErr := s.Write(s.out); writeErr != nil {
		return writeErr
	}
	if flushErr := s.rc.Flush(); flushErr != nil {
		return flushErr
	}
	return err
}

// parse takes keys off in until a batch is full, and reports whether there may be more.
func (s *stream) parse(in []byte, ended bool) (rest []byte, again bool, err error) {
	ds := s.batch.ds[:0]
	defer func() { s.batch.ds = ds }()
	for len(ds) < batchKeys {
		d, after, found, err := s.next(s.hasher, in, ended)
		if err != nil || found == more {
			return after, false, err
		}
		if in = after; found == key {
			ds = append(ds, d)
		}
	}
	return in, true, nil
}

// answer appends the answers of a batch to what is to be sent.
func (s *stream) answer() {
	if s.minimal {
		return
	}
	if s.counts {
		for _, n := range s.batch.counts[:s.batch.n] {
			s.out = s.number(s.out, n)
		}
		return
	}
	for _, yes := range s.batch.yes[:s.batch.n] {
		if yes {
			s.out = append(s.out, s.yes...)
		} else {
			s.out = append(s.out, s.no...)
		}
	}
}

// fail tells the client of an error after answers were sent.
func (s *stream) fail(err error) error {
	if gone(s.request, err) {
		return err
	}
	p := problemOf(partial{err, s.sums.Keys})
	b, _ := json.Marshal(p) // strings and numbers
	s.Header().Set(trailerProblem, string(b))
	if s.failed != nil {
		if _, err := s.Write(s.failed(nil, p)); err != nil {
			return err
		}
	}
	if s.request.ContentLength >= 0 {
		_, _ = io.CopyN(io.Discard, s.streamed(), maxKey) // so that the connection can be used again
	}
	return nil
}
