package interop

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/summerwind/h2spec/config"
	"github.com/summerwind/h2spec/generic"
	"github.com/summerwind/h2spec/hpack"
	"github.com/summerwind/h2spec/http2"
	"github.com/summerwind/h2spec/spec"
	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/internal/freeport"
)

// known are the cases that every server of net/http fails: a HEADERS frame that is too long, an initial window that is set twice in one
// frame, and the fields Connection and TE of HTTP/1.
var known = []string{"http2/4.2/3", "http2/6.5.3/1", "http2/8.1.2.2/1", "http2/8.1.2.2/2"}

// TestHTTP2 runs the cases of h2spec on each program that serves HTTP/2: a node, and a cache in front of an origin that reads
// bodies, and of one that answers before. The servers must survive all, and fail those only that every server of net/http fails.
// The other programs have no TLS, and therefore no HTTP/2.
func TestHTTP2(t *testing.T) {
	cert, key := certificate(t)
	reading := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, strings.Repeat("text ", 100))
	}))
	t.Cleanup(reading.Close)
	for _, c := range []struct {
		name, program string
		args          []string
	}{
		{"node", umbel, []string{"serve", "--resp", "off", "--data", t.TempDir(), "--http"}},
		{"cache", umbelCache, []string{"serve", "--origin", reading.URL, "--listen"}},
		{"cache of an origin that does not read", umbelCache, []string{"serve", "--origin", hasty(t), "--listen"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			at, err := freeport.Addr()
			if err != nil {
				t.Fatal(err)
			}
			serve(t, c.program, at, append(c.args, at, "--tls-cert", cert, "--tls-key", key)...)
			for id, err := range failures(t, at) {
				if !slices.Contains(known, id) {
					t.Errorf("%s: %v", id, err)
				}
			}
		})
	}
}

// failures returns the cases that a server fails, by section and number.
func failures(t *testing.T, at string) map[string]error {
	t.Helper()
	host, port, _ := net.SplitHostPort(at)
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	c := &config.Config{Host: host, Port: number, Path: "/", Timeout: 2 * time.Second, MaxHeaderLen: 4000, TLS: true, Insecure: true}
	var mu sync.Mutex
	failed, cases := map[string]error{}, 0
	var group sync.WaitGroup
	slots := make(chan struct{}, 16)
	run := func(id string, tc *spec.TestCase) {
		defer func() { <-slots }()
		conn, err := spec.Dial(c)
		if err == nil {
			err = tc.Run(c, conn)
			conn.Close()
		}
		mu.Lock()
		defer mu.Unlock()
		cases++
		if err != nil && err != spec.ErrSkipped {
			failed[id] = fmt.Errorf("%s: %w", tc.Desc, err)
		}
	}
	var walk func(g *spec.TestGroup)
	walk = func(g *spec.TestGroup) {
		for i, tc := range g.Tests {
			slots <- struct{}{}
			group.Go(func() { run(fmt.Sprintf("%s/%d", g.ID(), i+1), tc) })
		}
		for _, sub := range g.Groups {
			walk(sub)
		}
	}
	for _, g := range []*spec.TestGroup{generic.Spec(), http2.Spec(), hpack.Spec()} {
		walk(g)
	}
	group.Wait()
	if cases < 100 {
		t.Errorf("%d cases, want more than 100", cases)
	}
	return failed
}

// hasty returns the URL of an origin that answers each head at once and reads no body.
func hasty(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				r := bufio.NewReader(c)
				for {
					line, err := r.ReadString('\n')
					if err != nil {
						return
					}
					if line == "\r\n" {
						_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly")
					}
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// serve runs a program until the end of the test, waits until it serves HTTP/2, and requires that it has not ended before.
func serve(t *testing.T, program, at string, args ...string) {
	t.Helper()
	var output strings.Builder
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		select {
		case err := <-ended:
			t.Errorf("it ended: %v\n%s", err, output.String())
			return
		default:
		}
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := <-ended; err != nil {
			t.Errorf("%v\n%s", err, output.String())
		}
	})
	// A node that reads its filters answers with HTTP/1.1 only.
	await.True(t, "it serves HTTP/2", func() bool {
		if len(ended) > 0 {
			t.Fatalf("it does not start:\n%s", output.String())
		}
		c, err := tls.Dial("tcp", at, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// certificate returns the files of a certificate for 127.0.0.1 and its key.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	d := t.TempDir()
	cert, key = filepath.Join(d, "cert.pem"), filepath.Join(d, "key.pem")
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}
