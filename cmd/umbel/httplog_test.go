package main

import (
	"bytes"
	"io"
	"log"
	"os"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/cli"
)

// What net/http reports has the form of the other messages of a verb.
func TestHTTPFaults(t *testing.T) {
	defer log.SetOutput(os.Stderr)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"version"}, "umbel: warning: fault of an HTTP connection: bad\n"},
		{[]string{"version", "--json"}, `{"warning":"fault of an HTTP connection: bad"}` + "\n"},
	} {
		var messages bytes.Buffer
		if code := cli.Run(rootCommand(), c.args, &cli.Streams{Out: io.Discard, Err: &messages, Now: time.Now}); code != 0 {
			t.Fatalf("exit code %d", code)
		}
		messages.Reset()
		log.Print("http: bad")
		if got := messages.String(); got != c.want {
			t.Errorf("%v: %q, want %q", c.args, got, c.want)
		}
	}
}
