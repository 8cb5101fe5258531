package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/internal/freeport"
)

// process is a program that can be killed and started again.
type process struct {
	t         *testing.T
	program   string
	arguments []string
	ready     func() bool // whether it serves
	cmd       *exec.Cmd   // nil while it does not run
	ended     chan error  // has the error of the last run when it has ended
}

// start starts the program, and waits until it is ready.
func (p *process) start() {
	p.t.Helper()
	p.cmd = exec.Command(p.program, p.arguments...)
	p.cmd.Stdout, p.cmd.Stderr = io.Discard, os.Stderr
	// Variables of tests, such as UMBEL_LONG, are no settings of nodes.
	p.cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "UMBEL_") })
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	cmd, ended := p.cmd, make(chan error, 1)
	p.ended = ended
	go func() { ended <- cmd.Wait() }()
	await.True(p.t, p.program+" "+p.arguments[0]+" serves", func() bool {
		select {
		case err := <-ended:
			p.cmd = nil
			p.t.Fatalf("%s %s: %v", p.program, p.arguments, err)
		default:
		}
		return p.ready()
	})
}

// kill kills the program as kill -9 does. It does nothing if the program does not run.
func (p *process) kill() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Kill()
	<-p.ended
	p.cmd = nil
}

// freeAddress returns an address of this machine that is free.
func freeAddress(t *testing.T) string {
	t.Helper()
	addr, err := freeport.Addr()
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// short is a client that keeps no connections, since the server may be killed.
var short = http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}

// answers reports whether a URL answers with status 200.
func answers(url string) bool {
	r, err := short.Get(url)
	if err != nil {
		return false
	}
	defer r.Body.Close()
	_, err = io.Copy(io.Discard, r.Body)
	return err == nil && r.StatusCode == http.StatusOK
}

// hasProgram reports whether a program is installed.
func hasProgram(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

// nginxOf returns an nginx that serves directories: the paths are the keys.
func nginxOf(t *testing.T, address string, directories map[string]string) *process {
	t.Helper()
	d := t.TempDir()
	var locations strings.Builder
	for name, directory := range directories {
		fmt.Fprintf(&locations, "location /%s/ { alias %s/; }\n", name, directory)
	}
	config := filepath.Join(d, "nginx.conf")
	// One process, so that killing it ends the server.
	text := fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log stderr crit;
events { worker_connections 1000; }
http {
	access_log off;
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
	server {
		listen %[2]s;
		location = /alive { return 200; }
		%[3]s
	}
}
`, d, address, locations.String())
	if err := os.WriteFile(config, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return &process{
		t: t, program: "nginx", arguments: []string{"-c", config, "-p", d, "-e", "stderr"},
		ready: func() bool { return answers("http://" + address + "/alive") },
	}
}

// send sends a request with a JSON body and returns the status and the body of the reply.
func send(t *testing.T, method, url, body string) (status int, reply string) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", api.MediaJSON)
	r, err := short.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}
