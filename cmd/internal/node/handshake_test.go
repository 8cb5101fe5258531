package node

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/report"
	"github.com/umbel-filters/umbel/internal/await"
)

// A client without TLS is logged and counted on both ports. A connection that ends before it sends anything, as those of
// load balancers that check a port, is not.
func TestFailedHandshakes(t *testing.T) {
	c := testConfig(t)
	c.TLSCert, c.TLSKey = selfSigned(t)
	var log safeBuffer
	n := startedWith(t, c, slog.New(slog.NewJSONHandler(&log, nil)))
	for _, address := range []net.Addr{n.RESP(), n.HTTP()} {
		for _, words := range []string{"", "*1\r\n$4\r\nPING\r\n", "GET / HTTP/1.1\r\n\r\n"} {
			conn, err := net.Dial("tcp", address.String())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn, words); err != nil {
				t.Fatal(err)
			}
			if words == "" {
				conn.Close()
				continue
			}
			_, _ = io.Copy(io.Discard, conn) // until the server has ended the connection
			conn.Close()
		}
		conn, err := tls.Dial("tcp", address.String(), &tls.Config{InsecureSkipVerify: true}) // after the others
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	// net/http logs after it has ended the connection.
	await.True(t, "four handshakes have failed", func() bool { return strings.Count(log.String(), "tls-failed") >= 4 })
	failed := map[string]int{}
	for line := range bytes.Lines([]byte(log.String())) {
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		if m["event"] == nil {
			t.Errorf("a message without an event: %s", line)
		}
		if m["event"] == "tls-failed" {
			failed[m["part"].(string)]++
			if client, _ := m["client"].(string); !strings.HasPrefix(client, "127.0.0.1:") {
				t.Errorf("the client is %v, want address and port: %s", m["client"], line)
			}
		}
	}
	if failed["resp"] != 2 || failed["http"] != 2 {
		t.Errorf("%v failed handshakes are logged, want 2 each over resp and http: %s", failed, log.String())
	}
	if got := n.totals(); got.Handshakes != 2 || got.HTTPHandshakes != 2 {
		t.Errorf("%d and %d failed handshakes are counted, want 2 and 2", got.Handshakes, got.HTTPHandshakes)
	}
}

// What the HTTP server reports besides handshakes has an event, too.
func TestHTTPServerMessages(t *testing.T) {
	var log safeBuffer
	report.ServerLog(slog.New(slog.NewTextHandler(&log, nil)), nil).Print("http: Accept error: too many open files; retrying in 5ms")
	if got := log.String(); !strings.Contains(got, `error="Accept error: too many open files; retrying in 5ms"`) || !strings.Contains(got, "event=http-error") {
		t.Errorf("logged: %s", got)
	}
}
