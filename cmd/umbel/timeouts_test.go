package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
)

// networkVerbs are the arguments of all verbs that talk to a server, whose address is ADDR. They run in a directory with
// the files a.umb, keys and k.pub.
var networkVerbs = map[string]string{
	"umbel node acknowledge": "--addr ADDR", "umbel add": "a k --addr ADDR", "umbel edit advance": "a 5 --addr ADDR", "umbel backup make": "-o out --addr ADDR", "umbel edit clear": "a --addr ADDR",
	"umbel edit compact": "a --addr ADDR", "umbel count": "a k --addr ADDR", "umbel node delete": "a --addr ADDR", "umbel fold": "a 2 --addr ADDR",
	"umbel node get": "a -o out --addr ADDR", "umbel has": "a k --addr ADDR", "umbel info": "a --addr ADDR", "umbel intersect": "a b --addr ADDR",
	"umbel node list": "--addr ADDR", "umbel make": "--addr ADDR --keys 10 a keys", "umbel merge": "a b --addr ADDR", "umbel peers": "--addr ADDR", "umbel peers has": "k --addr ADDR", "umbel node put": "a.umb a --addr ADDR",
	"umbel remove": "a k --addr ADDR", "umbel node snapshot": "--addr ADDR", "umbel-cache squid fetch": "ADDR -o out", "umbel node status": "--addr ADDR",
	"umbel fetch": "http://ADDR/p --public-key k.pub -o out", "umbel edit unfold": "a 2 --addr ADDR", "umbel uniq": "--addr ADDR --name a keys",
	"umbel node slots": "--addr ADDR", "umbel group leave": "--addr ADDR", "umbel group take-over": "--addr ADDR",
	"umbel unite": "http://ADDR/p --public-key k.pub --to out --key k.key",
}

// timeoutFlags bound the time of a verb: of all its requests, and of one transfer.
var timeoutFlags = []string{cli.TimeoutFlag, "transfer-timeout"}

// servesForLong are verbs with one of these flags that run until they are ended.
var servesForLong = []string{"umbel replica", "umbel-nix serve", "umbel-cache squid relay"}

// Every verb that talks to a server ends with an error in the time of its flag, if the server is silent, breaks off or
// never ends, and writes no file.
func TestTimeouts(t *testing.T) {
	dir := t.TempDir()
	for _, args := range []string{"make -q -o a.umb --keys 10 keys", "keygen example.org/k"} {
		if err := os.WriteFile(filepath.Join(dir, "keys"), []byte("alice\nbob\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("umbel", strings.Fields(args)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("umbel %s: %v\n%s", args, err, out)
		}
	}
	verbs := map[string]string{} // their flags
	for _, root := range roots() {
		for c := range commands(root) {
			path := c.CommandPath()
			for _, name := range timeoutFlags {
				if c.Flags().Lookup(name) == nil || slices.Contains(servesForLong, path) {
					continue
				}
				if verbs[path] = name; networkVerbs[path] == "" {
					t.Errorf("%s has --%s and is not in networkVerbs", path, name)
				}
			}
		}
	}
	servers := map[string]func(c net.Conn, media string){
		"silent": func(net.Conn, string) {},
		"breaks off": func(c net.Conn, media string) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: "+media+"\r\nContent-Length: 1000\r\n\r\n{")
		},
		"never ends": endless("A"),
	}
	for path, args := range networkVerbs {
		if verbs[path] == "" {
			t.Errorf("%s has none of the flags %v, or does not exist", path, timeoutFlags)
			continue
		}
		for what, server := range servers {
			t.Run(path+"/"+what, func(t *testing.T) {
				t.Parallel()
				wantTimeout(t, dir, path+" --"+verbs[path]+" 500ms "+strings.ReplaceAll(args, "ADDR", serverThat(t, server)), path)
			})
		}
	}
}

// wantTimeout fails unless a command ends with an error and leaves no file.
func wantTimeout(t *testing.T, dir, line, path string) {
	here := t.TempDir()
	if err := os.CopyFS(here, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // far more than it may take on a busy machine
	defer cancel()
	words := strings.Fields(line)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = here
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	statusSuffices := slices.Contains([]string{"umbel node delete", "umbel node snapshot"}, path)
	if ctx.Err() != nil || err == nil && !statusSuffices {
		t.Errorf("%s: %v, want an error\n%s", line, err, clipped(out.String()))
	}
	files, err := filepath.Glob(filepath.Join(here, "out*"))
	if err != nil || len(files) > 0 {
		t.Errorf("%s leaves %q, %v", line, files, err)
	}
}

func clipped(s string) string { return s[:min(len(s), 1000)] }

// endless sends a response that never ends.
func endless(piece string) func(net.Conn, string) {
	return func(c net.Conn, media string) {
		_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: "+media+"\r\n\r\n")
		for b := bytes.Repeat([]byte(piece), 64<<10); err == nil; {
			_, err = c.Write(b)
		}
	}
}

// serverThat returns the address of a server that reads the head of each request and then does what answer does, with the
// media type that the request accepts.
func serverThat(t *testing.T, answer func(c net.Conn, media string)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		answer(conn, r.Header.Get("Accept"))
		_, _ = io.Copy(io.Discard, conn) // until the client closes the connection
	})}
	go func() { _ = s.Serve(l) }()
	return l.Addr().String()
}

// commands yields all commands below one.
func commands(c *cobra.Command) func(yield func(*cobra.Command) bool) {
	var walk func(*cobra.Command, func(*cobra.Command) bool) bool
	walk = func(c *cobra.Command, yield func(*cobra.Command) bool) bool {
		for _, sub := range c.Commands() {
			if !yield(sub) || !walk(sub, yield) {
				return false
			}
		}
		return true
	}
	return func(yield func(*cobra.Command) bool) { walk(c, yield) }
}
