package cacheserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// selfSigned writes a certificate for 127.0.0.1 and its key.
func selfSigned(t *testing.T, d string, serial int64) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(d, "cert.pem"), filepath.Join(d, "key.pem")
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "EC PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// Clients get responses over TLS, with HTTP/2 in front of a server, and the certificate that is in the files now.
func TestTLS(t *testing.T) {
	u := originOf(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=100")
		_, _ = io.WriteString(w, strings.Repeat("x", 100_000))
	})
	for _, forward := range []bool{false, true} {
		c := testConfig(u)
		c.Disk = t.TempDir()
		d := t.TempDir()
		c.TLSCert, c.TLSKey = selfSigned(t, d, 1)
		protocol := "HTTP/2.0"
		if forward {
			c.Origin, protocol = nil, "HTTP/1.1"
		}
		s := start(t, c)
		at := "https://" + s.Addr().String() + "/a"
		get := func() *http.Response {
			// The certificate is one that the test has made and that signs itself.
			transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
			defer transport.CloseIdleConnections()
			if forward {
				transport.Proxy = http.ProxyURL(&url.URL{Scheme: "https", Host: s.Addr().String()})
				at = u.String() + "/a"
			}
			r, err := (&http.Client{Transport: transport}).Get(at)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Body.Close()
			if b, err := io.ReadAll(r.Body); len(b) != 100_000 || err != nil || r.Proto != protocol {
				t.Errorf("%d bytes, %v, %s, want %s", len(b), err, r.Proto, protocol)
			}
			return r
		}
		get()
		r := get()
		if !strings.Contains(r.Header.Get("Cache-Status"), "hit") {
			t.Errorf("the second answer is no hit: %v", r.Header)
		}
		selfSigned(t, d, 2)
		if err := s.tls.Reload(); err != nil {
			t.Fatal(err)
		}
		if r := get(); !forward && r.TLS.PeerCertificates[0].SerialNumber.Int64() != 2 {
			t.Error("the certificate is still the old one")
		}
	}
}

// Without a key or with damaged files the server does not start.
func TestTLSErrors(t *testing.T) {
	c := testConfig(nil)
	c.TLSCert, c.TLSKey = selfSigned(t, t.TempDir(), 1)
	c.TLSKey = c.TLSCert
	if _, err := Start(c); err == nil {
		t.Error("it starts with a certificate instead of the key")
	}
	c.TLSCert, c.TLSKey = "absent", "absent"
	if _, err := Start(c); err == nil {
		t.Error("it starts without the files")
	}
}
