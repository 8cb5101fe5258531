package node

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/httpapi"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/internal/event"
)

// progressEvery is the interval of log messages about the recovery.
const progressEvery = 10 * time.Second

// loading answers clients while the filters are restored: -LOADING over RESP, the problem not-ready
// over HTTP, and /healthz. It touches neither engine nor store.
type loading struct {
	node  *Node
	began time.Time
	resp  *resp.Server
	web   []*http.Server
	lent  []*lentListener
	tasks sync.WaitGroup
	stop  context.CancelFunc

	connected atomic.Int64 // connections of web
}

// lentListener is a listener that can be used again after Close, which only ends Accept.
type lentListener struct {
	*net.TCPListener
	closed atomic.Bool
}

func (l *lentListener) Accept() (net.Conn, error) {
	c, err := l.TCPListener.Accept()
	if err != nil && l.closed.Load() {
		return nil, net.ErrClosed
	}
	return c, err
}

func (l *lentListener) Close() error {
	l.closed.Store(true)
	return l.SetDeadline(time.Unix(1, 0))
}

// startLoading begins to answer on all listeners.
func (n *Node) startLoading() *loading {
	l := &loading{node: n, began: time.Now()}
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	l.tasks.Go(func() { l.logProgress(ctx) })
	o := resp.Options{
		Loading:  true,
		Commands: resp.Table{"info": {Arity: -1, Flags: []string{"loading", "stale"}, Summary: "Returns the progress of the recovery.", Run: l.info}},
		Limits:   limitsOf(n.config),
		Budget:   n.budget,
		Redis:    redisVersion,
		Log:      n.log.With("part", "resp"),
		Default:  command.Everyone(),
	}
	if n.users != nil {
		o.Auth, o.Default = n.login, n.defaultUser
	}
	l.resp = resp.NewServer(o)
	if lent := l.lend(n.listeners.resp); lent != nil {
		l.tasks.Go(func() { _ = l.resp.Serve(n.tls.Listener(lent)) })
	}
	for _, one := range []net.Listener{n.listeners.http, n.listeners.metrics} {
		lent := l.lend(one)
		if lent == nil {
			continue
		}
		s := n.webServer("http", httpapi.Loading(l.progress))
		s.ReadTimeout, s.WriteTimeout = s.ReadHeaderTimeout, s.ReadHeaderTimeout
		s.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){} // HTTP/1.1 only
		s.ConnState = l.count
		l.web = append(l.web, s)
		l.tasks.Go(func() { _ = s.Serve(n.tls.Listener(lent, "http/1.1")) })
	}
	return l
}

func (l *loading) lend(from net.Listener) net.Listener {
	t, ok := from.(*net.TCPListener)
	if !ok {
		return nil
	}
	lent := &lentListener{TCPListener: t}
	l.lent = append(l.lent, lent)
	return lent
}

// loadingGrace is how long a client that has connected may take for its request before it is disconnected, so that the
// node begins to serve. Answers of this phase take less than a millisecond.
const loadingGrace = time.Second / 2

// end answers the requests of all who have connected, disconnects them and gives the listeners back. http.Server.Shutdown
// would disconnect them without an answer.
func (l *loading) end() {
	l.stop()
	for _, lent := range l.lent {
		_ = lent.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), loadingGrace)
	defer cancel()
	_ = l.resp.Shutdown(ctx)
	l.tasks.Wait() // then all that were accepted are counted
	for _, s := range l.web {
		s.SetKeepAlivesEnabled(false)
	}
	for l.connected.Load() > 0 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	for _, s := range l.web {
		_ = s.Close()
	}
	for _, lent := range l.lent {
		_ = lent.SetDeadline(time.Time{}) // Accept of the node's servers reports errors
	}
}

// count counts the connections of clients.
func (l *loading) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		l.connected.Add(1)
	case http.StateClosed:
		l.connected.Add(-1)
	}
}

// progress describes how far the recovery is.
func (l *loading) progress() string {
	used, _ := l.node.engine.Memory()
	return fmt.Sprintf("restoring the filters: %v after %v", quantity.Size(used), time.Since(l.began).Round(time.Millisecond))
}

func (l *loading) logProgress(ctx context.Context) {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			used, _ := l.node.engine.Memory()
			l.node.log.Info("restoring the filters", event.Recovering, "bytes", used, "took", time.Since(l.began).Round(time.Second))
			notify(fmt.Sprintf("STATUS=restoring the filters: %v", quantity.Size(used)))
		}
	}
}

// info replies the sections of INFO that clients read to find out whether a server is ready.
func (l *loading) info(c *resp.Conn, _ [][]byte) {
	used, _ := l.node.engine.Memory()
	c.Verbatim(fmt.Sprintf("# Server\r\nredis_version:%s\r\nredis_mode:standalone\r\numbel_version:%s\r\n\r\n"+
		"# Persistence\r\nloading:1\r\nasync_loading:0\r\nloading_start_time:%d\r\nloading_loaded_bytes:%d\r\n",
		redisVersion, version(), l.began.Unix(), used))
}
