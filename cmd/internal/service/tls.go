package service

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/internal/event"
)

// TLS is the certificate of a server and the authorities of client certificates. It is safe for
// concurrent use.
type TLS struct {
	cert, key, clientCA string
	require             bool
	current             atomic.Pointer[identity]
	mu                  sync.Mutex // held during Reload
}

// identity is the contents of the files at one time.
type identity struct {
	cert    tls.Certificate
	clients *x509.CertPool // nil: clients have no certificates
	stamps  [3]stamp
}

// stamp is used to detect changes of a file.
type stamp struct {
	at   time.Time
	size int64
}

// poll is the interval at which the files are checked. Polling is more reliable than
// notifications because certificates are often links that are replaced.
const poll = 30 * time.Second

// LoadTLS reads a certificate chain and its key from PEM files. clientCA is a file with the
// authorities of client certificates, or "". require makes client certificates mandatory.
func LoadTLS(cert, key, clientCA string, require bool) (*TLS, error) {
	t := &TLS{cert: cert, key: key, clientCA: clientCA, require: require}
	if require && clientCA == "" {
		return nil, fmt.Errorf("client certificates are required, but no file with authorities is set")
	}
	return t, t.Reload()
}

// Reload reads the files again. On an error the previous ones stay in use.
func (t *TLS) Reload() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := &identity{stamps: t.fileStamps()}
	var err error
	if id.cert, err = tls.LoadX509KeyPair(t.cert, t.key); err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	if t.clientCA != "" {
		pem, err := os.ReadFile(t.clientCA)
		if err != nil {
			return fmt.Errorf("client authorities: %w", err)
		}
		id.clients = x509.NewCertPool()
		if !id.clients.AppendCertsFromPEM(pem) {
			return fmt.Errorf("client authorities: %s contains no certificate", t.clientCA)
		}
	}
	t.current.Store(id)
	return nil
}

// fileStamps returns the stamps of the files; zero for missing ones.
func (t *TLS) fileStamps() (s [3]stamp) {
	for i, path := range []string{t.cert, t.key, t.clientCA} {
		if info, err := os.Stat(path); path != "" && err == nil {
			s[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return s
}

// Watch checks the files every 30 seconds until ctx is done and reloads them if they have
// changed. It logs errors and tries again.
func (t *TLS) Watch(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if t.fileStamps() == t.current.Load().stamps {
			continue
		}
		if err := t.Reload(); err != nil {
			log.Error("certificate reload failed; kept previous certificate", event.CertificateFailed, "error", err)
			continue
		}
		log.Info("certificate reloaded", event.CertificateReloaded, "file", t.cert, "expires", t.expires())
	}
}

// expires returns the expiry of the certificate in use.
func (t *TLS) expires() time.Time { return t.current.Load().cert.Leaf.NotAfter }

// suites are the cipher suites of TLS 1.2: those with forward secrecy and authenticated encryption.
// Go's default list also has suites with CBC and SHA-1. The suites of TLS 1.3 are all of this kind.
var suites = []uint16{
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
}

// Config returns the configuration of a listener, which always uses the files as last read.
// protocols are those of ALPN, for example "h2".
func (t *TLS) Config(protocols ...string) *tls.Config {
	type made struct {
		*identity
		config *tls.Config
	}
	// A config contains session keys. It is kept as long as the certificate, so that sessions that
	// were made under other authorities cannot be resumed.
	var last atomic.Pointer[made]
	current := func() *tls.Config {
		id := t.current.Load()
		if m := last.Load(); m != nil && m.identity == id {
			return m.config
		}
		c := &tls.Config{MinVersion: tls.VersionTLS12, CipherSuites: suites, Certificates: []tls.Certificate{id.cert}, NextProtos: protocols, ClientCAs: id.clients}
		switch {
		case t.require:
			c.ClientAuth = tls.RequireAndVerifyClientCert
		case id.clients != nil:
			c.ClientAuth = tls.VerifyClientCertIfGiven
		}
		last.Store(&made{id, c})
		return c
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: protocols,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return current(), nil
		},
	}
}

// Listener returns a listener for connections with TLS: see Config. If t is nil, it returns l.
func (t *TLS) Listener(l net.Listener, protocols ...string) net.Listener {
	if t == nil {
		return l
	}
	return tls.NewListener(l, t.Config(protocols...))
}
