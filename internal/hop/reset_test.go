package hop

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
)

// TestAnswerBeforeReset: an origin that refuses a long body answers, and closes the connection with what it has not read. Its answer arrives.
func TestAnswerBeforeReset(t *testing.T) {
	origin := func(t *testing.T) *world {
		return newWorld(t, rawOrigin(t, func(c net.Conn, r *bufio.Reader) {
			readHead(r)
			_, _ = io.WriteString(c, "HTTP/1.1 413 L\r\nContent-Length: 5\r\nConnection: close\r\n\r\nlarge")
		}), t.Name() == "TestAnswerBeforeReset/HTTP/2")
	}
	body := make([]byte, 10<<20)
	t.Run("HTTP/1", func(t *testing.T) {
		w := origin(t)
		for i := range 30 {
			c, r := w.dial(t)
			go func() {
				fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", len(body))
				_, _ = c.Write(body)
			}()
			if res, text := read(t, r, "POST"); res.StatusCode != 413 || text != "large" {
				t.Fatalf("%d: %s %q", i, res.Status, text)
			}
			c.Close()
		}
	})
	t.Run("HTTP/2", func(t *testing.T) {
		w := origin(t)
		for i := range 30 {
			res, err := w.Client().Post(w.URL, "", bytes.NewReader(body))
			if err != nil {
				t.Fatal(i, err)
			}
			text, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != http.StatusRequestEntityTooLarge || string(text) != "large" {
				t.Fatalf("%d: %s %q %v", i, res.Status, text, err)
			}
		}
	})
}
