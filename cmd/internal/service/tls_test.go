package service

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/node/access"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Unix(0, 0),
		NotAfter: time.Now().Add(100 * 365 * 24 * time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{cert, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

// sign returns a certificate for a name and its key, in PEM.
func (a authority) sign(t *testing.T, name string, alternatives ...string) (cert, key []byte) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: alternatives,
		NotBefore: time.Unix(0, 0), NotAfter: a.cert.NotAfter,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, k.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	b, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: b})
}

// files is a directory with a server's certificate and key and an authority.
type files struct{ cert, key, ca string }

func (f files) write(t *testing.T, cert, key, ca []byte) {
	t.Helper()
	for path, data := range map[string][]byte{f.cert: cert, f.key: key, f.ca: ca} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func newFiles(t *testing.T) files {
	d := t.TempDir()
	return files{filepath.Join(d, "cert.pem"), filepath.Join(d, "key.pem"), filepath.Join(d, "ca.pem")}
}

// greet connects a client with a server in memory, and returns what each saw.
func greet(t *testing.T, server, client *tls.Config) (atServer tls.ConnectionState, err error) {
	t.Helper()
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	done := make(chan error, 1)
	s := tls.Server(a, server)
	go func() {
		err := s.Handshake()
		if err == nil {
			s.Write([]byte("x"))
		} else {
			a.Close()
		}
		done <- err
	}()
	c := tls.Client(b, client)
	if err = c.Handshake(); err == nil {
		_, err = c.Read(make([]byte, 1))
	}
	b.Close()
	if serverErr := <-done; serverErr != nil {
		err = serverErr
	}
	return s.ConnectionState(), err
}

func TestMutualTLS(t *testing.T) {
	ca, other, f := newAuthority(t), newAuthority(t), newFiles(t)
	cert, key := ca.sign(t, "server", "server")
	f.write(t, cert, key, ca.pem)
	us, err := access.Parse([]byte("users: [{name: a, certificates: [alice]}, {name: b, certificates: [bob.example]}, {name: c, enabled: false, certificates: [carol]}]"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	client := func(from authority, name string, alternatives ...string) *tls.Config {
		pair, err := tls.X509KeyPair(from.sign(t, name, alternatives...))
		if err != nil {
			t.Fatal(err)
		}
		return &tls.Config{RootCAs: roots, ServerName: "server", Certificates: []tls.Certificate{pair}}
	}
	for _, c := range []struct {
		name    string
		config  *tls.Config
		require bool
		ok      bool
		user    string
	}{
		{"common name", client(ca, "alice"), true, true, "a"},
		{"alternative name", client(ca, "x", "bob.example"), true, true, "b"},
		{"names of two users", client(ca, "alice", "bob.example"), true, true, ""},
		{"nobody's name", client(ca, "mallory"), true, true, ""},
		{"disabled", client(ca, "carol"), true, true, ""},
		{"another authority", client(other, "alice"), true, false, ""},
		{"none", &tls.Config{RootCAs: roots, ServerName: "server"}, true, false, ""},
		{"none, not required", &tls.Config{RootCAs: roots, ServerName: "server"}, false, true, ""},
		{"TLS 1.1", &tls.Config{RootCAs: roots, ServerName: "server", MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, false, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			server, err := LoadTLS(f.cert, f.key, f.ca, c.require)
			if err != nil {
				t.Fatal(err)
			}
			state, err := greet(t, server.Config(), c.config)
			if (err == nil) != c.ok {
				t.Fatalf("handshake: %v", err)
			}
			name := ""
			if u := us.Certificate(&state); u != nil {
				name = u.Name
			}
			if name != c.user {
				t.Errorf("user %q, want %q", name, c.user)
			}
		})
	}
}

// A certificate that is replaced is used within half a minute, and half a certificate never.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca, f := newAuthority(t), newFiles(t)
		cert, key := ca.sign(t, "first")
		f.write(t, cert, key, ca.pem)
		server, err := LoadTLS(f.cert, f.key, f.ca, false)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go server.Watch(ctx, slog.New(slog.DiscardHandler))
		name := func() string {
			time.Sleep(poll + time.Second)
			synctest.Wait()
			return server.current.Load().cert.Leaf.Subject.CommonName
		}
		cert, key = ca.sign(t, "the second")
		if err := os.WriteFile(f.cert, append(cert, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := name(); got != "first" {
			t.Errorf("with half of the second there the certificate is %q", got)
		}
		if err := os.WriteFile(f.key, append(key, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := name(); got != "the second" {
			t.Errorf("the certificate is %q", got)
		}
		config := server.Config("h2")
		one, _ := config.GetConfigForClient(nil)
		two, _ := config.GetConfigForClient(nil)
		if one != two || one.NextProtos[0] != "h2" {
			t.Error("sessions don't outlive a connection, or the protocol is lost")
		}
	})
}

func TestLoadTLSErrors(t *testing.T) {
	ca, f := newAuthority(t), newFiles(t)
	cert, key := ca.sign(t, "server")
	f.write(t, cert, key, []byte("nothing"))
	if _, err := LoadTLS(f.cert, f.key, f.ca, false); err == nil {
		t.Error("a file without authorities is taken")
	}
	if _, err := LoadTLS(f.cert, f.cert, "", false); err == nil {
		t.Error("a certificate is taken for a key")
	}
	if _, err := LoadTLS(f.cert, f.key, "", true); err == nil {
		t.Error("certificates are required and nobody signs them")
	}
}

// Clients of TLS 1.2 get authenticated encryption or no connection.
func TestSuites(t *testing.T) {
	f, a := newFiles(t), newAuthority(t)
	cert, key := a.sign(t, "server", "server")
	f.write(t, cert, key, a.pem)
	server, err := LoadTLS(f.cert, f.key, "", false)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(a.pem)
	old := &tls.Config{RootCAs: roots, ServerName: "server", MaxVersion: tls.VersionTLS12}
	if _, err := greet(t, server.Config(), old); err != nil {
		t.Errorf("TLS 1.2: %v", err)
	}
	old.CipherSuites = []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA}
	if _, err := greet(t, server.Config(), old); err == nil {
		t.Error("a suite with CBC and SHA-1 is accepted")
	}
}
