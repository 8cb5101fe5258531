package node

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// cheapHash is a password's hash that takes no time.
func cheapHash(t *testing.T, password string) string {
	t.Helper()
	h, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return string(h)
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// selfSigned writes a certificate for 127.0.0.1 with the name "alice", its own authority, and its key.
func selfSigned(t *testing.T) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "alice"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	d := t.TempDir()
	cert, key = filepath.Join(d, "cert.pem"), filepath.Join(d, "key.pem")
	writeFile(t, cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	writeFile(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret})))
	return cert, key
}

// With TLS and users a node may listen anywhere; a certificate says who a client is.
func TestTLS(t *testing.T) {
	c := testConfig(t)
	c.TLSCert, c.TLSKey = selfSigned(t)
	c.TLSClientCA = c.TLSCert
	c.Users = filepath.Join(t.TempDir(), "users.yaml")
	writeFile(t, c.Users, `users: [{name: a, certificates: [alice], rules: [{rights: [read, add], names: ["*"]}]}]`)
	c.RESP, c.HTTP = "0.0.0.0:0", "0.0.0.0:0"
	n := started(t, c)
	pair, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(pair.Leaf)
	known := &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", Certificates: []tls.Certificate{pair}}
	unknown := &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"}
	alice := dial(t, n, known)
	alice.Want("BF.ADD k a", ":1")
	if info := alice.Line("CLIENT INFO"); !strings.Contains(info, " user=a ") {
		t.Errorf("the user of a certificate is not in %s", info)
	}
	dial(t, n, unknown).Want("BF.ADD k a", "-NOAUTH")
	if f := n.engine.Get([]byte("k")); f == nil || !f.Hasher().Secret() {
		t.Error("the filter's hash has no secret")
	}

	_, port, _ := net.SplitHostPort(n.HTTP().String())
	for _, c := range []struct {
		config *tls.Config
		want   int
	}{{known, http.StatusOK}, {unknown, http.StatusUnauthorized}} {
		transport := &http.Transport{TLSClientConfig: c.config, ForceAttemptHTTP2: true}
		client := &http.Client{Transport: transport, Timeout: time.Minute}
		r, err := client.Get("https://127.0.0.1:" + port + "/v1/filters/k")
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		transport.CloseIdleConnections()
		if r.StatusCode != c.want || r.ProtoMajor != 2 {
			t.Errorf("%s by %s, want %d", r.Status, r.Proto, c.want)
		}
	}
}
