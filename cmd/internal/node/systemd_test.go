//go:build unix

package node

import (
	"net"
	"path/filepath"
	"testing"
)

func TestNotify(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	notify("READY=1") // to nobody
	path := filepath.Join(t.TempDir(), "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	notify("STOPPING=1")
	var b [64]byte
	n, err := l.Read(b[:])
	if err != nil || string(b[:n]) != "STOPPING=1" {
		t.Errorf("%q, %v", b[:n], err)
	}
}
