package oplog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// run is one run of the embedded server, and our connection to it within the process.
type run struct {
	server *server.Server
	client *nats.Conn
	said   *serverLog
	// healthy ends when the server couldn't write; its cause is why. After that it takes
	// nothing more, but can be read.
	healthy context.Context
	fail    context.CancelCauseFunc
}

// start starts the server in a directory, with the streams there are to be.
func start(ctx context.Context, dir string, o Options) (_ *run, err error) {
	maxStore := int64(o.MaxBytes)
	if maxStore <= 0 {
		maxStore = 1 << 60 // by default the server takes a share of what is free when it starts
	}
	if err := forgetIndexes(dir); err != nil {
		return nil, err
	}
	s, err := server.NewServer(&server.Options{
		ServerName:             "umbel",
		DontListen:             true,
		NoSigs:                 true,
		DisableJetStreamBanner: true,
		JetStream:              true,
		JetStreamMaxMemory:     64 << 20, // nothing is kept there
		JetStreamMaxStore:      maxStore,
		StoreDir:               dir,
		SyncAlways:             true, // otherwise a power cut takes whole streams
		SyncInterval:           2 * time.Minute,
		MaxPayload:             1 << 20,
	})
	if err != nil {
		return nil, fmt.Errorf("JetStream: %w", err)
	}
	r := &run{server: s, said: &serverLog{log: o.Log}}
	r.healthy, r.fail = context.WithCancelCause(context.Background())
	s.SetLoggerV2(r.said, false, false, false)
	defer func() {
		if err != nil {
			r.stop()
		}
	}()
	s.Start()
	if !s.JetStreamEnabled() || !s.ReadyForConnections(patience) {
		return nil, fmt.Errorf("JetStream doesn't start: %w", r.said.why())
	}
	if r.client, err = nats.Connect("", nats.InProcessServer(s), nats.NoReconnect(), nats.Timeout(patience),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { r.said.Warnf("%v", err) })); err != nil {
		return nil, fmt.Errorf("JetStream: %w", err)
	}
	for row := range rows {
		if err := r.addStream(ctx, row); err != nil {
			return nil, err
		}
	}
	// The server says to nobody else that it couldn't write: it just doesn't answer.
	r.said.watch(r.fail)
	return r, nil
}

// why returns why nothing more is written, or nil.
func (r *run) why() error { return context.Cause(r.healthy) }

// forgetIndexes removes what the server wrote of its files when it stopped. With that it
// looks at a file only when it needs a message in it, doesn't mind its sums, and gets all
// the memory there is for a number with a damaged bit. Without, it reads its files from end
// to end as it starts, minds the sums, and drops what is damaged, which the log then finds
// missing.
func forgetIndexes(dir string) error {
	indexes, err := fs.Glob(os.DirFS(dir), "jetstream/*/streams/*/msgs/index.db")
	for _, path := range indexes {
		err = errors.Join(err, os.Remove(filepath.Join(dir, path)))
	}
	return err
}

// addStream makes the stream of a row if it isn't there.
func (r *run) addStream(ctx context.Context, row Row) error {
	config, err := json.Marshal(server.StreamConfigRequest{StreamConfig: server.StreamConfig{
		Name:        row.stream(),
		Subjects:    []string{row.subject()},
		Storage:     server.FileStorage,
		Retention:   server.LimitsPolicy,
		Discard:     server.DiscardNew, // nothing goes that wasn't purged
		MaxMsgs:     -1,
		MaxBytes:    -1,
		MaxMsgsPer:  -1,
		MaxMsgSize:  -1,
		Replicas:    1,
		Duplicates:  100 * time.Millisecond, // the least: messages have no names to be compared
		AllowDirect: true,
	}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	m, err := r.client.RequestWithContext(ctx, fmt.Sprintf(server.JSApiStreamCreateT, row.stream()), config)
	if err != nil {
		return fmt.Errorf("JetStream: %w", err)
	}
	var response server.JSApiStreamCreateResponse
	if err := json.Unmarshal(m.Data, &response); err != nil {
		return err
	}
	if response.Error != nil {
		return fmt.Errorf("JetStream: %s: %w", row.stream(), response.Error)
	}
	return nil
}

// subscribe returns a subscription that drops nothing, however late it is read: what comes
// is bounded by what is asked for.
func (r *run) subscribe(inbox string) (*nats.Subscription, error) {
	s, err := r.client.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	return s, s.SetPendingLimits(-1, -1)
}

func (r *run) stop() {
	r.said.watch(nil)
	r.fail(errClosed)
	if r.client != nil {
		r.client.Close()
	}
	r.server.Shutdown()
	r.server.WaitForShutdown()
}
