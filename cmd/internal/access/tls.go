package access

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// TLS is a server's certificate and the authorities of its clients' ones. Its methods may be
// called concurrently.
type TLS struct {
	cert, key, clientCA string
	require             bool
	current             atomic.Pointer[identity]
	mu                  sync.Mutex // held while it is read again
}

// identity is what was read at one time.
type identity struct {
	cert    tls.Certificate
	clients *x509.CertPool // nil: clients show no certificate
	stamps  [3]stamp
}

// stamp tells whether a file has changed.
type stamp struct {
	at   time.Time
	size int64
}

// poll is how often the files are looked at. Looking is safer than being told: certificates are
// often links that are replaced.
const poll = 30 * time.Second

// LoadTLS reads a certificate with its chain and the key, in PEM. clientCA, if it isn't empty, is
// a file of the authorities whose certificates of clients are taken; require says that clients
// must show one.
func LoadTLS(cert, key, clientCA string, require bool) (*TLS, error) {
	t := &TLS{cert: cert, key: key, clientCA: clientCA, require: require}
	if require && clientCA == "" {
		return nil, fmt.Errorf("access: clients must show a certificate, but there is no file of authorities that sign them")
	}
	return t, t.Reload()
}

// Reload reads the files again, and keeps what was on an error.
func (t *TLS) Reload() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := &identity{stamps: t.stamps()}
	var err error
	if id.cert, err = tls.LoadX509KeyPair(t.cert, t.key); err != nil {
		return fmt.Errorf("access: certificate: %w", err)
	}
	if t.clientCA != "" {
		pem, err := os.ReadFile(t.clientCA)
		if err != nil {
			return fmt.Errorf("access: authorities of clients: %w", err)
		}
		id.clients = x509.NewCertPool()
		if !id.clients.AppendCertsFromPEM(pem) {
			return fmt.Errorf("access: authorities of clients: %s has no certificate", t.clientCA)
		}
	}
	t.current.Store(id)
	return nil
}

// stamps returns when the files changed last; zero for those that aren't there.
func (t *TLS) stamps() (s [3]stamp) {
	for i, path := range []string{t.cert, t.key, t.clientCA} {
		if info, err := os.Stat(path); path != "" && err == nil {
			s[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return s
}

// Watch looks at the files each half minute until ctx is done, and reads them again where they
// have changed. What can't be read is logged and tried again.
func (t *TLS) Watch(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if t.stamps() == t.current.Load().stamps {
			continue
		}
		if err := t.Reload(); err != nil {
			log.Error("the new certificate can't be used, the old one stays", "error", err)
			continue
		}
		log.Info("new certificate", "file", t.cert, "until", t.Expires())
	}
}

// Expires returns when the certificate in use ends.
func (t *TLS) Expires() time.Time { return t.current.Load().cert.Leaf.NotAfter }

// Config returns what a listener needs, which always uses what was read last. The protocols are
// those of ALPN, as "h2".
func (t *TLS) Config(protocols ...string) *tls.Config {
	type made struct {
		*identity
		config *tls.Config
	}
	// A config has the keys of its sessions: it stays the same as long as the certificate does,
	// and a session that was made under other authorities ends with them.
	var last atomic.Pointer[made]
	current := func() *tls.Config {
		id := t.current.Load()
		if m := last.Load(); m != nil && m.identity == id {
			return m.config
		}
		c := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{id.cert}, NextProtos: protocols, ClientCAs: id.clients}
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
