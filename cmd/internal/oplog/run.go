package oplog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// run is one run of the embedded server, and our connection to it within the process.
type run struct {
	server *server.Server
	client *nats.Conn
	said   *serverLog
}

// start starts the server in a directory, with the streams there are to be.
func start(ctx context.Context, dir string, o Options) (_ *run, err error) {
	maxStore := int64(o.MaxBytes)
	if maxStore <= 0 {
		maxStore = 1 << 60 // by default the server takes a share of what is free when it starts
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
	return r, nil
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
	if r.client != nil {
		r.client.Close()
	}
	r.server.Shutdown()
	r.server.WaitForShutdown()
}

// serverLog writes what the server says to a log, in which it is one of many: what it
// notices of itself is for who debugs.
type serverLog struct {
	log *slog.Logger
	mu  sync.Mutex
	bad error // what it said last that was an error
}

func (l *serverLog) say(level slog.Level, format string, v []any) {
	if l.log != nil && l.log.Enabled(context.Background(), level) {
		l.log.Log(context.Background(), level, fmt.Sprintf(format, v...), "from", "jetstream")
	}
}

func (l *serverLog) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bad == nil {
		return errors.New("it doesn't say why")
	}
	return l.bad
}

func (l *serverLog) Noticef(format string, v ...any) { l.say(slog.LevelDebug, format, v) }
func (l *serverLog) Warnf(format string, v ...any)   { l.say(slog.LevelWarn, format, v) }
func (l *serverLog) Debugf(format string, v ...any)  { l.say(slog.LevelDebug, format, v) }
func (l *serverLog) Tracef(format string, v ...any)  { l.say(slog.LevelDebug, format, v) }

func (l *serverLog) Errorf(format string, v ...any) {
	l.mu.Lock()
	l.bad = fmt.Errorf(format, v...)
	l.mu.Unlock()
	l.say(slog.LevelError, format, v)
}

// Fatalf is called before the server stops itself; the process goes on.
func (l *serverLog) Fatalf(format string, v ...any) { l.Errorf(format, v...) }
