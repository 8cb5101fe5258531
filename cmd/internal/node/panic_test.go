package node

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/service"
)

// A panic in an HTTP handler ends the process with status 2 and a logged stack, as over RESP.
func TestPanicEndsProcess(t *testing.T) {
	const variable = "UMBEL_TEST_PANIC"
	if os.Getenv(variable) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestPanicEndsProcess$")
		cmd.Env = append(os.Environ(), variable+"=1")
		out, err := cmd.CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 2 {
			t.Errorf("the process ended with %v, want exit status 2", err)
		}
		for _, want := range []string{`"level":"ERROR"`, `"panic":"half a change"`, "panic_test.go"} {
			if !strings.Contains(string(out), want) {
				t.Errorf("the log has no %s: %s", want, out)
			}
		}
		return
	}
	n := &Node{log: slog.New(slog.NewJSONHandler(os.Stderr, nil)), interfaces: interfaces{servers: service.NewGroup()}}
	c := DefaultConfig()
	n.limits.Store(&c)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n.serveHTTP("http", l, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/abort" {
			panic(http.ErrAbortHandler)
		}
		panic("half a change")
	}))
	if _, err := http.Get("http://" + l.Addr().String() + "/abort"); !errors.Is(err, io.EOF) {
		t.Errorf("an aborted response: %v, want EOF", err)
	}
	_, _ = http.Get("http://" + l.Addr().String())
	os.Exit(0) // the process should have ended
}
