// Package sidecar runs package siblings as a process: the upstream of a cache, with a status page and with hints from the
// cache's log.
package sidecar

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/umbel-filters/umbel/cmd/internal/service"
	"github.com/umbel-filters/umbel/cmd/internal/webcache/squidpeer"
	"github.com/umbel-filters/umbel/siblings"
)

// Config is what a sidecar needs. Listen and Origin are required.
type Config struct {
	Mesh   siblings.Options
	Origin *url.URL
	// Listen is where the cache connects to. Siblings connect to Publish, or to Listen if it is empty.
	Listen, Publish string
	// Status is where the status page is; empty means nowhere.
	Status string
	// SquidStoreLog is the file of Squid's cache_store_log; empty means none.
	SquidStoreLog string
	// VarnishLog is a file with the output of varnishlog -u -g raw -i ExpKill, - for standard input; empty means none.
	VarnishLog string
}

// ParsePeer returns the peer in NAME=URL,KEY or NAME=URL,KEY,ZONE. key reads the public key.
func ParsePeer(s string, key func(string) (note.Verifier, error)) (siblings.PeerOptions, error) {
	name, rest, ok := strings.Cut(s, "=")
	fields := strings.Split(rest, ",")
	if !ok || name == "" || len(fields) < 2 || len(fields) > 3 {
		return siblings.PeerOptions{}, fmt.Errorf("%.200q: want NAME=URL,KEY or NAME=URL,KEY,ZONE", s)
	}
	p, err := newPeer(name, fields[0], fields[2:])
	if err != nil {
		return p, err
	}
	if p.Verifier, err = key(fields[1]); err != nil {
		return p, fmt.Errorf("peer %s: %w", name, err)
	}
	return p, nil
}

// ParseSquid returns the peer in NAME=URL or NAME=URL,ZONE: a Squid without a sidecar.
func ParseSquid(s string) (siblings.PeerOptions, error) {
	name, rest, ok := strings.Cut(s, "=")
	fields := strings.Split(rest, ",")
	if !ok || name == "" || len(fields) > 2 {
		return siblings.PeerOptions{}, fmt.Errorf("%.200q: want NAME=URL or NAME=URL,ZONE", s)
	}
	p, err := newPeer(name, fields[0], fields[1:])
	if err != nil {
		return p, err
	}
	source := squidpeer.Source{}
	source.URL, err = squidpeer.URL(p.URL.String())
	p.Squid = source
	return p, err
}

// newPeer returns a peer with an address and, if zone has an element, a zone.
func newPeer(name, address string, zone []string) (p siblings.PeerOptions, err error) {
	p.Name = name
	if p.URL, err = ParseAddress(address); err != nil {
		return p, fmt.Errorf("peer %s: %w", name, err)
	}
	if len(zone) == 1 {
		if p.Zone, err = strconv.Atoi(zone[0]); err != nil || p.Zone < 0 {
			return p, fmt.Errorf("peer %s: the zone is %.40q, want a number of at least 0", name, zone[0])
		}
	}
	return p, nil
}

// ParseAddress returns the URL of a server in s, without a path.
func ParseAddress(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%.200q: want a URL without a path, such as http://10.0.0.2:8080", s)
	}
	return u, nil
}

// ParseToken returns the token in the contents of a file.
func ParseToken(b []byte) (string, error) {
	token := strings.TrimSpace(string(b))
	if len(token) < 16 || strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", errors.New("want a token of at least 16 printable characters without spaces; openssl rand -hex 16 prints one")
	}
	return token, nil
}

// listen opens the listeners.
func (c *Config) listen() (l listeners, err error) {
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.cache, err = service.Listen("listen", c.Listen); err != nil {
		return l, err
	}
	if c.Publish != "" {
		if l.publish, err = service.Listen("publish-listen", c.Publish); err != nil {
			return l, err
		}
	}
	if c.Status != "" {
		l.status, err = service.Listen("status", c.Status)
	}
	return l, err
}

// listeners are those of a sidecar; publish and status may be nil.
type listeners struct{ cache, publish, status net.Listener }

func (l listeners) close() {
	for _, x := range []net.Listener{l.cache, l.publish, l.status} {
		if x != nil {
			x.Close()
		}
	}
}
