// Package cacheserver runs an HTTP cache: its listeners, its limits for slow clients, a status page and an orderly end.
package cacheserver

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/service"
	"github.com/umbel-filters/umbel/cmd/internal/webcache/forward"
	"github.com/umbel-filters/umbel/cmd/internal/webcache/httpcache"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/hop"
)

// Config configures a server.
type Config struct {
	Listen       string   // host:port
	Status       string   // host:port of the status page, or empty
	Origin       *url.URL // nil for a forward proxy
	Memory       int64    // bytes of the store in memory, which Disk replaces
	Disk         string   // directory, or empty
	DiskSize     int64    // bytes of the store on disk
	Largest      int64    // bytes of the largest body that is stored; 0 for an eighth of the store
	Disconnected time.Duration
	Scheme       string // with which clients reach an origin's site, for X-Forwarded-Proto; empty: https with TLSCert, otherwise not stated
	TunnelPorts  []string
	Name         string    // in Cache-Status
	Siblings     *Siblings // nil for none
	TLSCert      string    // PEM file with the certificate chain for clients and siblings; empty: no TLS
	TLSKey       string    // PEM file with its key
	Log          *slog.Logger
}

// Server is a running cache.
type Server struct {
	Cache   *httpcache.Cache
	config  Config
	begun   time.Time
	main    net.Listener
	status  net.Listener
	group   *service.Group
	tunnels *forward.Tunnels
	member  *member      // nil without siblings
	tls     *service.TLS // nil without TLS
	unwatch context.CancelFunc
}

// Start starts a server. Shutdown must be called. The error wraps disk.ErrLocked if another process uses the directory.
func Start(c Config) (_ *Server, err error) {
	s := &Server{config: c, begun: time.Now(), group: service.NewGroup(), unwatch: func() {}}
	defer func() {
		if err != nil {
			s.closeListeners()
		}
	}()
	if c.TLSCert != "" {
		if s.tls, err = service.LoadTLS(c.TLSCert, c.TLSKey, "", false); err != nil {
			return nil, err
		}
	}
	if s.main, err = service.Listen("listen", c.Listen); err != nil {
		return nil, err
	}
	if c.Status != "" {
		if s.status, err = service.Listen("status", c.Status); err != nil {
			return nil, err
		}
	}
	o := httpcache.Options{
		Origin: c.Origin, Size: c.Memory, Largest: c.Largest, Disconnected: c.Disconnected, Name: c.Name, Pseudonym: pseudonym(c.Name), Log: c.Log,
	}
	if c.Disk != "" {
		o.Directory, o.Size = c.Disk, c.DiskSize
	}
	if c.Origin != nil {
		if o.Scheme = c.Scheme; o.Scheme == "" && s.tls != nil {
			o.Scheme = "https"
		}
	}
	if c.Origin == nil {
		dial := forward.NewDial(s.Local())
		s.tunnels = forward.NewTunnels(dial, c.TunnelPorts)
		o.Upstream, o.Tunnel = httpcache.NewTransport(dial), s.tunnels
	}
	if c.Siblings != nil {
		if err = s.join(*c.Siblings, &o); err != nil {
			return nil, err
		}
	}
	if s.Cache, err = httpcache.New(o); err != nil {
		return nil, err
	}
	handler := http.Handler(s.Cache)
	if m := s.member; m != nil {
		handler = m.handler(s.Cache, c.Origin)
		m.run(s.group.Fail)
		if m.publish != nil {
			s.serve("--publish-listen", s.encrypt(m.publish), m.Publication())
		}
	}
	if s.tls != nil {
		ctx, stop := context.WithCancel(context.Background())
		s.unwatch = stop
		go s.tls.Watch(ctx, c.Log)
	}
	s.serve("--listen", s.encrypt(s.main), handler)
	if s.status != nil {
		s.serve("--status", s.status, hop.Bodiless(s.statusPage()))
	}
	s.announce()
	return s, nil
}

// announce logs where the server serves.
func (s *Server) announce() {
	c := s.config
	what := "forward proxy"
	if c.Origin != nil {
		what = "cache of " + c.Origin.String()
	}
	store := fmt.Sprintf("%v in memory", quantity.Size(c.Memory))
	if c.Disk != "" {
		store = fmt.Sprintf("%v in %s", quantity.Size(c.DiskSize), c.Disk)
	}
	c.Log.Info("ready", event.Ready, "what", what, "listen", s.scheme()+"://"+s.Addr().String()+"/", "store", store)
	if a := s.statusAddr(); a != nil {
		c.Log.Info("status", event.Status, "listen", "http://"+a.String()+"/")
	}
}

// encrypt returns a listener for clients or siblings. A forward proxy has HTTP/1.1 only, since a tunnel is a connection.
func (s *Server) encrypt(l net.Listener) net.Listener {
	if s.config.Origin == nil {
		return s.tls.Listener(l, "http/1.1")
	}
	return s.tls.Listener(l, "h2", "http/1.1")
}

// serve serves a listener until Shutdown.
func (s *Server) serve(flag string, l net.Listener, h http.Handler) {
	server := service.NewServer(h, s.config.Log)
	server.WriteTimeout = 2 * time.Minute // the cache extends it while a client takes bytes
	server.DisableGeneralOptionsHandler = true
	s.group.Serve(flag, server, l)
}

// pseudonym returns a name for Via that no other cache has: chains of caches with the same name are no loops.
func pseudonym(name string) string {
	var b [6]byte
	rand.Read(b[:])
	return name + "-" + hex.EncodeToString(b[:])
}

// scheme returns http, or https with TLS.
func (s *Server) scheme() string {
	if s.tls != nil {
		return "https"
	}
	return "http"
}

// Addr returns the address of the cache.
func (s *Server) Addr() net.Addr { return s.main.Addr() }

// statusAddr returns the address of the status page, or nil.
func (s *Server) statusAddr() net.Addr {
	if s.status == nil {
		return nil
	}
	return s.status.Addr()
}

// Local reports whether only processes of this machine can be clients.
func (s *Server) Local() bool { return service.IsLoopback(s.main.Addr()) }

// Failed receives the error of a listener that has failed, or of the exchange with siblings.
func (s *Server) Failed() <-chan error { return s.group.Failed() }

// Shutdown stops accepting, waits for the answers that are being sent until the context is done, and frees everything.
func (s *Server) Shutdown(ctx context.Context) (err error) {
	if s.member != nil {
		s.member.leave()
	}
	_ = s.group.Shutdown(ctx) // the clients that it disconnected had their time
	if s.tunnels != nil {
		s.tunnels.Shutdown(ctx)
	}
	s.unwatch()
	if err = errors.Join(err, s.Cache.Close()); err == nil {
		s.config.Log.Info("shutdown complete", event.Stopped)
	}
	return err
}

func (s *Server) closeListeners() {
	list := []net.Listener{s.main, s.status}
	if s.member != nil {
		list = append(list, s.member.publish)
	}
	for _, l := range list {
		if l != nil {
			_ = l.Close()
		}
	}
}
