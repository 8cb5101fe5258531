package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
)

const (
	// readBytes is the size of a read from a stream.
	readBytes = 64 << 10
	// maxKey is the length of the longest key of a stream in bytes, including its encoding.
	maxKey = 1 << 20
	// streamBytes is the memory of a stream: input, digests and answers.
	streamBytes = 4 * readBytes
)

// stream is a request whose keys are answered while they arrive.
type stream struct {
	*request
	op      verb
	codec   codec
	filter  *engine.Filter
	hasher  umbel.Hasher
	minimal bool // the client wants only the totals

	in     []byte // read and not yet parsed
	text   keys.Text
	batch  engine.Batch
	out    []byte // answers to the last read
	totals api.Totals
}

// serveStream answers keys while they arrive: the keys of one read are processed, made durable and
// answered before the next read. Its memory does not depend on the length of the stream.
func (op verb) serveStream(req *request, f *engine.Filter, format codec) error {
	if err := req.share.Take(streamBytes); err != nil {
		return err
	}
	s := stream{
		request: req, op: op, codec: format, filter: f, hasher: f.Hasher(), minimal: prefersMinimal(req.http),
		in: make([]byte, 0, readBytes), text: keys.Text{Format: keys.Lines}, batch: op.batch(batchKeys),
	}
	s.batch.Digests = make([]umbel.Digest, 0, batchKeys)
	if !s.minimal {
		_ = req.rc.EnableFullDuplex() // HTTP/2 always is
	}
	if b, ok := req.http.Body.(*timedBody); ok {
		defer b.release()
		defer context.AfterFunc(req.Serving, b.interrupt)()
	}
	err := s.run()
	switch {
	case err != nil && !req.started():
		s.closeConnection()
		return partialError{err, s.totals.Keys}
	case err != nil:
		return s.fail(err)
	case s.minimal:
		return op.respondTotals(req, f, s.totals)
	}
	s.writeHead()
	return nil
}

// writeHead sends the status and the headers before the first answer.
func (s *stream) writeHead() {
	if s.started() {
		return
	}
	h := s.Header()
	h.Set("Content-Type", s.codec.media)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // proxies shall forward answers at once
	h.Set("Trailer", api.TrailerProblem)
	if s.http.ContentLength < 0 {
		s.closeConnection() // the response may end before the request
	}
	s.WriteHeader(http.StatusOK)
}

// closeConnection announces that the connection ends with the response. The server closes a connection
// whose request was not read completely, and an uninformed client would use it again.
func (s *stream) closeConnection() {
	if s.http.ProtoMajor == 1 {
		s.Header().Set("Connection", "close")
	}
}

func (s *stream) run() error {
	body := s.streamedBody()
	for ended := false; !ended; {
		if len(s.in) == cap(s.in) {
			if len(s.in) >= maxKey {
				return problemf(tooLarge, "a key has more than %d bytes", maxKey)
			}
			if err := s.share.Take(2 * cap(s.in)); err != nil {
				return err
			}
			s.in = append(make([]byte, 0, 2*cap(s.in)), s.in...)
		}
		n, err := body.Read(s.in[len(s.in):cap(s.in)])
		s.in = s.in[:len(s.in)+n]
		if ended = err == io.EOF; err != nil && !ended {
			if s.Serving.Err() != nil {
				return problemf(notReady, "the node is shutting down; repeat the rest of the stream later")
			}
			return bodyError(err)
		}
		if err := s.check(); err != nil {
			return err
		}
		if err := s.waitRoom(); err != nil {
			return err
		}
		if err := s.checkPlace(); err != nil {
			return err
		}
		if err := s.answer(ended); err != nil {
			return err
		}
	}
	return nil
}

// check returns an error if the filter was replaced or the user lost the right since the stream began.
func (s *stream) check() error {
	if l := s.Rates.of(s.http.RemoteAddr); l != nil {
		if err := l.Wait(s.http.Context()); err != nil {
			return problemf(tooMany, "%w", err)
		}
	}
	if !s.allowed(s.route.right, s.name) {
		return fmt.Errorf("the user lost the right during the stream: %w", access.ErrDenied)
	}
	now, err := s.request.filter()
	if err != nil {
		return err
	}
	if now != s.filter || now.Hasher() != s.hasher {
		return fmt.Errorf("filter %q was replaced during the stream: %w", s.name, engine.ErrNotFound)
	}
	return nil
}

// answer processes all complete keys of s.in, waits until the changes are durable, and sends the
// answers. If a key fails, the keys before it are answered too, if they are durable.
func (s *stream) answer(ended bool) error {
	s.out = s.out[:0]
	rest, pos, totals, err := s.in, engine.Position(0), s.totals, error(nil)
	for more := true; more && err == nil; {
		var parseErr, runErr error
		rest, more, parseErr = s.parse(rest, ended)
		if len(s.batch.Digests) > 0 {
			var at engine.Position
			at, runErr = s.op.run(&s.batch, s.filter)
			pos = max(pos, at)
			s.op.addTotals(&totals, &s.batch)
			s.appendAnswers()
		}
		if err = runErr; err == nil {
			err = parseErr
		}
	}
	s.in = s.in[:copy(s.in[:cap(s.in)], rest)]
	if durableErr := s.waitDurable(pos); durableErr != nil {
		return durableErr
	}
	s.totals = totals
	if s.minimal || len(s.out) == 0 || err != nil && !s.started() {
		return err
	}
	s.writeHead()
	if _, writeErr := s.Write(s.out); writeErr != nil {
		return writeErr
	}
	if flushErr := s.rc.Flush(); flushErr != nil {
		return flushErr
	}
	return err
}

// parse fills the batch with keys from in. It reports whether in may contain more keys.
func (s *stream) parse(in []byte, ended bool) (rest []byte, more bool, err error) {
	ds := s.batch.Digests[:0]
	defer func() { s.batch.Digests = ds }()
	for len(ds) < batchKeys {
		d, after, found, err := s.codec.next(&s.text, s.hasher, in, ended)
		if err != nil || found == incompleteInput {
			return after, false, err
		}
		if in = after; found == parsedKey {
			ds = append(ds, d)
		}
	}
	return in, true, nil
}

// appendAnswers appends the answers of the batch to s.out.
func (s *stream) appendAnswers() {
	if s.minimal {
		return
	}
	if s.op.counts {
		for _, n := range s.batch.Counts[:s.batch.N] {
			s.out = s.codec.number(s.out, n)
		}
		return
	}
	for _, yes := range s.batch.Answers[:s.batch.N] {
		if yes {
			s.out = append(s.out, s.codec.yes...)
		} else {
			s.out = append(s.out, s.codec.no...)
		}
	}
}

// fail reports an error to the client after answers were sent.
func (s *stream) fail(err error) error {
	if clientLeft(s.http, err) {
		return err
	}
	p := problemOf(partialError{err, s.totals.Keys})
	b, _ := json.Marshal(p) // strings and numbers cannot fail
	s.Header().Set(api.TrailerProblem, string(b))
	if s.codec.problem != nil {
		if _, err := s.Write(s.codec.problem(nil, p)); err != nil {
			return err
		}
	}
	if s.http.ContentLength >= 0 && s.Serving.Err() == nil {
		_, _ = io.CopyN(io.Discard, s.streamedBody(), maxKey) // so that the connection can be used again
	}
	return nil
}
