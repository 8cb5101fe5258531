package oplog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// names of the streams. Each has one subject, its name in small letters.
var streams = [rows]string{"UMBEL_BATCHES"}

func (r Row) stream() string  { return streams[r] }
func (r Row) subject() string { return "umbel." + [rows]string{"batches"}[r] }

const (
	// patience is how long JetStream may take for an answer. It takes that only when the
	// disk doesn't answer; then what was asked may be done later.
	patience = 30 * time.Second
	// pause is between attempts to begin again after the disk failed.
	pause = 200 * time.Millisecond
)

// jetStream keeps rows as streams of an embedded server. A message's number is its sequence.
type jetStream struct {
	dir     string
	options Options
	lock    *directoryLock
	marks   *os.File

	mu      sync.Mutex
	run     *run      // nil after Close, and while the server can't start
	failed  error     // why it can't
	tried   time.Time // when it was to begin again
	unknown [rows]bool
	bounds  [rows]struct{ first, last uint64 }
	closed  bool
}

// ask sends a request of JetStream's API and reads its answer.
func (j *jetStream) ask(ctx context.Context, subject string, request, response any) error {
	r, err := j.current()
	if err != nil {
		return err
	}
	b, err := json.Marshal(request)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	m, err := r.client.RequestWithContext(ctx, subject, b)
	if err != nil {
		return j.asked(err)
	}
	return json.Unmarshal(m.Data, response)
}

// asked returns the error of a request in our words.
func (j *jetStream) asked(err error) error {
	switch {
	case errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, nats.ErrNoResponders):
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.closed {
			return errClosed
		}
		return fmt.Errorf("JetStream has stopped: %w", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("JetStream doesn't answer: %w", err)
	}
	return err
}

func (j *jetStream) current() (*run, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.closed:
		return nil, errClosed
	case j.run == nil:
		return nil, j.failed
	}
	return j.run, nil
}

// working returns the server; after it failed to write it begins again, which is the only
// way that it takes messages again. Only who changes rows calls it.
func (j *jetStream) working(ctx context.Context) (*run, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.closed:
		return nil, errClosed
	case j.run != nil && j.run.why() == nil:
		return j.run, nil
	case time.Since(j.tried) < pause || unsynced(j.why()):
		return nil, j.why()
	}
	j.tried = time.Now()
	if err := probe(j.dir); err != nil {
		return nil, err
	}
	if j.run != nil {
		j.run.stop()
		j.run = nil
	}
	j.unknown = [rows]bool{true}
	r, err := start(ctx, j.dir, j.options)
	if err != nil {
		j.failed = err
		return nil, err
	}
	j.run = r
	return r, nil
}

// why returns why nothing is written, or nil. Called with mu held.
func (j *jetStream) why() error {
	if j.run == nil {
		return j.failed
	}
	return j.run.why()
}

// unsynced reports whether a file couldn't be synced. What was written to it is in memory
// then, and may never be on the disk, and nothing tells: another run would take it for kept.
func unsynced(why error) bool {
	failed, ok := errors.AsType[*fs.PathError](why)
	return ok && failed.Op == "sync"
}

// probe returns why a file of the size of a message can't be written in a directory.
func probe(dir string) error {
	f, err := os.CreateTemp(dir, "probe-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, 2<<20))
	return errors.Join(err, f.Sync(), f.Close())
}

func (j *jetStream) Bounds(ctx context.Context, r Row) (first, last uint64, err error) {
	j.mu.Lock()
	b, known := j.bounds[r], !j.unknown[r]
	j.mu.Unlock()
	if known {
		return b.first, b.last, nil
	}
	// What a run that failed has in memory doesn't count.
	if _, err := j.working(ctx); err != nil {
		return 0, 0, err
	}
	info, err := j.info(ctx, r, false)
	if err != nil {
		return 0, 0, err
	}
	b.first, b.last = max(info.State.FirstSeq, 1), info.State.LastSeq
	if info.State.Msgs == 0 {
		b.first = b.last + 1
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.bounds[r], j.unknown[r] = b, false
	return b.first, b.last, nil
}

func (j *jetStream) info(ctx context.Context, r Row, deleted bool) (*server.StreamInfo, error) {
	var response server.JSApiStreamInfoResponse
	err := j.ask(ctx, fmt.Sprintf(server.JSApiStreamInfoT, r.stream()), server.JSApiStreamInfoRequest{DeletedDetails: deleted}, &response)
	switch {
	case err != nil:
		return nil, err
	case response.Error != nil:
		return nil, fmt.Errorf("%s: %w", r.stream(), response.Error)
	}
	return response.StreamInfo, nil
}

func (j *jetStream) forgetBounds(r Row) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.unknown[r] = true
}

func (j *jetStream) Append(ctx context.Context, r Row, number uint64, message []byte) error {
	err := j.publish(ctx, r, number, message)
	if err != nil {
		j.forgetBounds(r)
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.bounds[r].last = number
	return nil
}

func (j *jetStream) publish(ctx context.Context, r Row, number uint64, message []byte) error {
	run, err := j.working(ctx)
	if err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	defer context.AfterFunc(run.healthy, cancel)()
	answer, err := run.client.RequestMsgWithContext(waiting, &nats.Msg{
		Subject: r.subject(),
		Header:  nats.Header{server.JSExpectedLastSeq: {strconv.FormatUint(number-1, 10)}},
		Data:    message,
	})
	if err != nil {
		if ctx.Err() == nil && waiting.Err() != nil {
			run.fail(errors.New("JetStream doesn't answer"))
		}
		if why := run.why(); why != nil {
			return why
		}
		return j.asked(err)
	}
	var ack server.JSPubAckResponse
	if err := json.Unmarshal(answer.Data, &ack); err != nil {
		return err
	}
	switch {
	case ack.Error == nil && ack.PubAck != nil && ack.Sequence == number:
		return nil
	case ack.Error == nil && ack.PubAck != nil:
		// It has just found out that it lost the end of the row. What it kept there is a
		// message of a wrong number, and no more.
		return fmt.Errorf("%w: it was stored as %d, not %d", ErrNumber, ack.Sequence, number)
	case ack.Error == nil:
		return fmt.Errorf("JetStream's answer to message %d of %s is %q", number, r.stream(), answer.Data)
	case ack.Error.ErrCode == uint16(server.JSStreamWrongLastSequenceErrF) || ack.Error.ErrCode == uint16(server.JSStreamWrongLastSequenceConstantErr):
		return fmt.Errorf("%w: %w", ErrNumber, ack.Error)
	case ack.Error.ErrCode == uint16(server.JSStorageResourcesExceededErr) || ack.Error.ErrCode == uint16(server.JSInsufficientResourcesErr):
		return fmt.Errorf("the log has reached its limit of %d bytes: %w", j.options.MaxBytes, ack.Error)
	}
	run.fail(ack.Error)
	return ack.Error
}

func (j *jetStream) Purge(ctx context.Context, r Row, before uint64) error {
	if before <= 1 {
		return nil
	}
	if _, err := j.working(ctx); err != nil {
		return err
	}
	defer j.forgetBounds(r)
	var response server.JSApiStreamPurgeResponse
	if err := j.ask(ctx, fmt.Sprintf(server.JSApiStreamPurgeT, r.stream()), server.JSApiStreamPurgeRequest{Sequence: before}, &response); err != nil {
		return err
	}
	if response.Error != nil {
		return response.Error
	}
	return nil
}

// inFlight is how many removals JetStream is asked for at a time.
const inFlight = 256

func (j *jetStream) Remove(ctx context.Context, r Row, numbers []uint64) error {
	run, err := j.working(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience+time.Duration(len(numbers))*time.Millisecond)
	defer cancel()
	defer j.forgetBounds(r)
	inbox := run.client.NewInbox()
	answers, err := run.subscribe(inbox)
	if err != nil {
		return j.asked(err)
	}
	defer answers.Unsubscribe()
	subject := fmt.Sprintf(server.JSApiMsgDeleteT, r.stream())
	for sent, got := 0, 0; got < len(numbers); got++ {
		for ; sent < len(numbers) && sent-got < inFlight; sent++ {
			b, err := json.Marshal(server.JSApiMsgDeleteRequest{Seq: numbers[sent], NoErase: true})
			if err != nil {
				return err
			}
			if err := run.client.PublishRequest(subject, inbox, b); err != nil {
				return j.asked(err)
			}
		}
		m, err := answers.NextMsgWithContext(ctx)
		if err != nil {
			return j.asked(err)
		}
		var response server.JSApiMsgDeleteResponse
		if err := json.Unmarshal(m.Data, &response); err != nil {
			return err
		}
		if e := response.Error; e != nil && !absent(e) {
			return fmt.Errorf("remove messages: %w", e)
		}
	}
	return nil
}

// absent reports whether JetStream says that a message isn't there. It has no code for it.
func absent(e *server.ApiError) bool {
	switch e.Description {
	case server.ErrStoreMsgNotFound.Error(), server.ErrStoreEOF.Error(), "deleted message":
		return true
	}
	return e.ErrCode == uint16(server.JSNoMessageFoundErr) || e.ErrCode == uint16(server.JSStreamMsgDeleteFailedF) && e.Description == "no message found" ||
		e.ErrCode == uint16(server.JSSequenceNotFoundErrF)
}

func (j *jetStream) Marks() Marks { return j.marks }

// Torn says nothing: JetStream cuts what was broken off in the middle of a write itself.
func (j *jetStream) Torn() string { return "" }

func (j *jetStream) Health() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return errClosed
	}
	return j.why()
}

func (j *jetStream) Bytes() uint64 {
	r, err := j.current()
	if err != nil {
		return 0
	}
	account, err := r.server.LookupAccount(server.DEFAULT_GLOBAL_ACCOUNT)
	if err != nil {
		return 0
	}
	return account.JetStreamUsage().Store
}

func (j *jetStream) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	j.closed = true
	if j.run != nil {
		j.run.stop()
	}
	return errors.Join(j.marks.Close(), j.leave())
}

// leave removes the copy that was looked at, if that is what it was, and the lock.
func (j *jetStream) leave() (err error) {
	if j.options.Check {
		err = os.RemoveAll(j.dir)
	}
	return errors.Join(err, j.lock.release())
}

// Open opens the log in a directory, which is made if it isn't there. The error wraps
// ErrLocked if another process has it open.
func Open(ctx context.Context, dir string, o Options) (Log, error) {
	m, err := openJetStream(ctx, dir, o)
	if err != nil {
		return nil, fmt.Errorf("oplog: %w", err)
	}
	l, err := On(ctx, m, o)
	if err != nil {
		return nil, fmt.Errorf("oplog: %s: %w", dir, errors.Join(err, m.Close()))
	}
	return l, nil
}

// OpenMedium opens what Open makes a log of: for tests that put something between.
func OpenMedium(ctx context.Context, dir string, o Options) (Medium, error) {
	return openJetStream(ctx, dir, o)
}

func openJetStream(ctx context.Context, dir string, o Options) (_ *jetStream, err error) {
	if o.Check {
		if _, err := os.Stat(filepath.Join(dir, "jetstream")); err != nil {
			return nil, fmt.Errorf("no log in %s: %w", dir, err)
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := writable(dir); err != nil {
		return nil, err
	}
	j := &jetStream{dir: dir, options: o, unknown: [rows]bool{true}}
	if j.lock, err = lockDirectory(dir); err != nil {
		return nil, err
	}
	if o.Check {
		if j.dir, err = copyLog(dir); err != nil {
			return nil, errors.Join(err, j.lock.release())
		}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, j.leave())
		}
	}()
	// JetStream must not make streams before the file of marks is there: a log without that
	// file is one that lost it.
	if j.marks, err = openMarks(j.dir); err != nil {
		return nil, err
	}
	if j.run, err = start(ctx, j.dir, o); err != nil {
		return nil, errors.Join(err, j.marks.Close())
	}
	return j, nil
}

// writable returns an error that says so if a directory can't be written to.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, "probe-*")
	if err != nil {
		if errors.Is(err, syscall.EROFS) || errors.Is(err, os.ErrPermission) {
			return fmt.Errorf("%s can't be written to, which the log needs even to be read: %w", dir, err)
		}
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func openMarks(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "head"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync() // not on all systems
		d.Close()
	}
	return f, nil
}
