package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/node/access"
)

// octets is the media type of profiles and traces.
const octets = "application/octet-stream"

// profiles are the routes of /debug/pprof, from which go tool pprof and go tool trace read. They are those of net/http/pprof,
// which links a decoder of profiles, of 0.2 MB, to subtract one profile from another: go tool pprof -base does that, too.
func profiles() []route {
	const base = "GET /debug/pprof/"
	return []route{
		{pattern: base + "{$}", right: access.Admin, serve: (*request).listProfiles},
		{pattern: base + "{name}", right: access.Admin, serve: (*request).profile},
		{pattern: base + "cmdline", right: access.Admin, serve: (*request).commandLine},
		{pattern: base + "profile", right: access.Admin, serve: func(req *request) error {
			return req.recording(30*time.Second, pprof.StartCPUProfile, pprof.StopCPUProfile)
		}},
		{pattern: base + "trace", right: access.Admin, serve: func(req *request) error {
			return req.recording(time.Second, trace.Start, trace.Stop)
		}},
	}
}

// listProfiles lists the profiles and the numbers of their stacks.
func (req *request) listProfiles() error {
	var page strings.Builder
	all := pprof.Profiles()
	slices.SortFunc(all, func(a, b *pprof.Profile) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, p := range all {
		fmt.Fprintf(&page, "%s\t%d\n", p.Name(), p.Count())
	}
	page.WriteString("cmdline\nprofile?seconds=30\ntrace?seconds=1\n")
	return req.plain(page.String())
}

// commandLine is the command line, with a zero byte between arguments.
func (req *request) commandLine() error { return req.plain(strings.Join(os.Args, "\x00")) }

func (req *request) plain(text string) error {
	req.response.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(req.response, text) // the client has gone
	return nil
}

// profile writes a profile, as text if the query has debug, and after a garbage collection if it has gc.
func (req *request) profile() error {
	p := pprof.Lookup(req.http.PathValue("name"))
	if p == nil {
		return problemf(noPath, "no profile %.40q: see /debug/pprof/", req.http.PathValue("name"))
	}
	query := req.http.URL.Query()
	if query.Has("seconds") {
		return problemf(badRequest, "seconds is for profile and trace: read %s twice, and compare with go tool pprof -base", p.Name())
	}
	if query.Get("gc") != "" && query.Get("gc") != "0" {
		runtime.GC()
	}
	debug, _ := strconv.Atoi(query.Get("debug"))
	media := "text/plain; charset=utf-8"
	if debug == 0 {
		media = octets
	}
	req.response.Header().Set("Content-Type", media)
	_ = p.WriteTo(req.response, debug) // the client has gone
	return nil
}

// recording writes what start records during the seconds of the query.
func (req *request) recording(usual time.Duration, start func(io.Writer) error, stop func()) error {
	took := usual
	if text := req.http.URL.Query().Get("seconds"); text != "" {
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil || !(seconds > 0 && seconds <= time.Hour.Seconds()) {
			return problemf(badRequest, "seconds is %.40q: want more than 0 and at most 3600", text)
		}
		took = time.Duration(seconds * float64(time.Second))
	}
	req.response.Header().Set("Content-Type", octets)
	if err := start(req.response); err != nil {
		return problemf(busy, "%v: another client records", err)
	}
	defer stop()
	ctx, cancel := context.WithTimeout(req.http.Context(), took)
	defer cancel()
	<-ctx.Done()
	return nil
}
