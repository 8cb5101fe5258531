package remote

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/durable/backup"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// A node that does not behave, by what it does with a connection after a request for a response of a media type.
var hostile = map[string]func(c net.Conn, media string){
	"sends nothing":            func(net.Conn, string) {},
	"sends half a head":        say("HTTP/1.1 200 OK\r\nContent-Ty"),
	"sends half a body":        say("HTTP/1.1 200 OK\r\nContent-Type: MEDIA\r\nContent-Length: 1000\r\n\r\n{\"name\""),
	"sends half a problem":     say("HTTP/1.1 500 E\r\nContent-Length: 1000\r\n\r\n{"),
	"sends a container's head": say("HTTP/1.1 200 OK\r\nContent-Type: MEDIA\r\n\r\n\x89umbel\n"),
	"sends a byte at a time": func(c net.Conn, media string) {
		_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: "+media+"\r\n\r\n")
		for err == nil {
			time.Sleep(time.Second)
			_, err = io.WriteString(c, " ")
		}
	},
	"sends letters without end": func(c net.Conn, media string) {
		_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: "+media+"\r\n\r\n")
		for letters := strings.Repeat("A", 64<<10); err == nil; {
			_, err = io.WriteString(c, letters)
		}
	},
	"sends interim responses without end": func(c net.Conn, _ string) {
		var err error
		for err == nil {
			time.Sleep(time.Second)
			_, err = io.WriteString(c, "HTTP/1.1 102 Processing\r\n\r\n")
		}
	},
}

// say returns a server that sends text, with its media type for MEDIA.
func say(text string) func(net.Conn, string) {
	return func(c net.Conn, media string) { _, _ = io.WriteString(c, strings.ReplaceAll(text, "MEDIA", media)) }
}

// everyRequest returns the requests of a Client by name. Those that save a response write it to w.
func everyRequest(w io.Writer) map[string]func(context.Context, *Client) error {
	const name = "a"
	return map[string]func(context.Context, *Client) error{
		"info":          func(ctx context.Context, c *Client) error { _, err := c.Info(ctx, name); return err },
		"status":        func(ctx context.Context, c *Client) error { _, err := c.Status(ctx); return err },
		"ready":         func(ctx context.Context, c *Client) error { return c.Ready(ctx, true) },
		"snapshot":      func(ctx context.Context, c *Client) error { return c.Snapshot(ctx) },
		"acknowledge":   func(ctx context.Context, c *Client) error { _, err := c.Acknowledge(ctx); return err },
		"subscriptions": func(ctx context.Context, c *Client) error { _, err := c.Subscriptions(ctx); return err },
		"owners":        func(ctx context.Context, c *Client) error { _, err := c.Owners(ctx, []string{"k"}); return err },
		"make":          func(ctx context.Context, c *Client) error { _, err := c.Make(ctx, name, api.FilterSpec{}); return err },
		"merge":         func(ctx context.Context, c *Client) error { _, err := c.Merge(ctx, name, "b"); return err },
		"intersect":     func(ctx context.Context, c *Client) error { _, err := c.Intersect(ctx, name, "b"); return err },
		"delete":        func(ctx context.Context, c *Client) error { return c.Delete(ctx, name) },
		"get":           func(ctx context.Context, c *Client) error { _, err := c.Get(ctx, name, true, w); return err },
		"backup": func(ctx context.Context, c *Client) error {
			return c.Backup(ctx, func(in io.Reader) error { return backup.Copy(w, in) })
		},
		"put": func(ctx context.Context, c *Client) error {
			_, err := c.Put(ctx, name, strings.NewReader(strings.Repeat("a", 1<<20)), true)
			return err
		},
		"has": func(ctx context.Context, c *Client) error {
			_, err := (&Filter{c: c, name: name}).Keys(ctx, Has, [][]byte{[]byte("k")})
			return err
		},
		"add": func(ctx context.Context, c *Client) error {
			_, err := (&Filter{c: c, name: name, public: true}).Keys(ctx, Add, [][]byte{[]byte("k")})
			return err
		},
		"list": func(ctx context.Context, c *Client) error {
			for _, err := range c.List(ctx, "") {
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// Every request to a node that is silent, slow or never ends fails within the time of --timeout, or the default one, and
// a download from it ends at once. The error is none of a user who canceled.
func TestPatience(t *testing.T) {
	var written limitedWriter
	requests := everyRequest(&written)
	for what, server := range hostile {
		for verb, do := range requests {
			for _, timeout := range []time.Duration{0, 5 * time.Second} {
				written = 0
				limit := longPatience + Patience
				if timeout > 0 {
					limit = 2 * timeout
				}
				synctest.Test(t, func(t *testing.T) {
					c := clientOf(t, server)
					c.Timeout = timeout
					began := time.Now()
					err := do(t.Context(), c)
					if took := time.Since(began); err == nil || errors.Is(err, context.Canceled) || took > limit {
						t.Errorf("%s, timeout %v, of a node that %s: %v after %v, want an error within %v", verb, timeout, what, err, took, limit)
					}
					c.HTTP.CloseIdleConnections()
					time.Sleep(time.Minute) // until the server has noticed
				})
				if written > 1<<20 {
					t.Errorf("%s of a node that %s writes %d bytes", verb, what, written)
				}
			}
		}
	}
}

// A slow source of an upload is not the fault of the node.
func TestPatienceWithSources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clientOf(t, func(conn net.Conn, media string) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: "+media+"\r\nConnection: close\r\nContent-Length: 14\r\n\r\n{\"name\": \"a\"}\n")
		})
		c.Timeout = time.Second
		r, w := io.Pipe()
		go func() {
			for range 3 {
				time.Sleep(time.Hour)
				_, _ = io.WriteString(w, "a part")
			}
			w.Close()
		}()
		if _, err := c.Put(t.Context(), "a", r, true); err != nil {
			t.Errorf("an upload of three hours: %v", err)
		}
		c.HTTP.CloseIdleConnections()
	})
}

// limitedWriter counts bytes.
type limitedWriter int64

func (w *limitedWriter) Write(b []byte) (int, error) {
	*w += limitedWriter(len(b))
	return len(b), nil
}

// clientOf returns a client of a server that reads each request and calls answer with the media type that it accepts.
func clientOf(t *testing.T, answer func(c net.Conn, media string)) *Client {
	t.Helper()
	l := pipes{make(chan net.Conn), make(chan struct{})}
	c, err := New("node", Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.HTTP.Transport.(*http.Transport).DialContext = l.dial
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				in := bufio.NewReader(conn)
				r, err := http.ReadRequest(in)
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				answer(conn, r.Header.Get("Accept"))
				_, _ = io.Copy(io.Discard, in) // until the client closes the connection
			}()
		}
	}()
	t.Cleanup(func() { l.Close() })
	return c
}
