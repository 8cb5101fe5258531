package remote

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/backup"
	"github.com/umbel-filters/umbel/cmd/internal/durable/disk/disktest"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// pipes is a listener whose connections are in memory.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error   { close(p.closed); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p.accepted <- server
	return client, nil
}

// A node that needs ten minutes before it responds, for a large filter, is waited for.
func TestSlowResponses(t *testing.T) {
	f, err := bloom.New(10, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	container, err := f.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	saved := emptyBackup(t)
	synctest.Test(t, func(t *testing.T) {
		l := pipes{make(chan net.Conn), make(chan struct{})}
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			time.Sleep(10 * time.Minute)
			media, body := api.MediaContainer, container
			switch {
			case r.Method == http.MethodPost:
				media, body = api.MediaJSON, []byte(`{"name":"a"}`)
			case r.URL.Path == "/v1/backup":
				media, body = api.MediaBackup, saved
			}
			w.Header().Set("Content-Type", media)
			_, _ = w.Write(body)
		})}
		go func() { _ = s.Serve(l) }()
		c, err := New("node", Options{})
		if err != nil {
			t.Fatal(err)
		}
		transport := c.HTTP.Transport.(*http.Transport)
		transport.DialContext = l.dial
		if _, err := c.Get(t.Context(), "a", false, io.Discard); err != nil {
			t.Error(err)
		}
		if err := c.Backup(t.Context(), func(in io.Reader) error { return backup.Copy(io.Discard, in) }); err != nil {
			t.Error(err)
		}
		if _, err := c.Do(t.Context(), "a", operation.Fold, umbel.Uint(2)); err != nil {
			t.Error(err)
		}
		transport.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// emptyBackup returns the backup of a node without filters.
func emptyBackup(t *testing.T) []byte {
	t.Helper()
	l, err := wal.OpenDir(disktest.NewDisk().Dir(), wal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var b bytes.Buffer
	if err := backup.Write(t.Context(), &b, l, nil, nil, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
