package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/http/remote"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
	"github.com/umbel-filters/umbel/share/web"
	signed "golang.org/x/mod/sumdb/note"
)

// ParsePublicKey returns the key in an argument: the key itself, or a file that contains it.
func ParsePublicKey(s string) (signed.Verifier, error) {
	v, err := share.ParsePublicKey(s)
	if err == nil {
		return v, nil
	}
	b, fileErr := os.ReadFile(s)
	if fileErr != nil {
		return nil, fmt.Errorf("%.80q is neither a key nor a file with one; umbel keygen prints keys", s)
	}
	if v, err = share.ParsePublicKey(string(bytes.TrimSpace(b))); err != nil {
		return nil, fmt.Errorf("%s does not contain a public key; umbel keygen --public prints it", s)
	}
	return v, nil
}

// Source returns the source at a URL or in a directory, which need not exist yet. The head at a URL is
// requested once per period, if the server doesn't report changes itself.
func (n Node) Source(where string, period time.Duration) (share.Source, error) {
	if strings.HasPrefix(where, "https://") || strings.HasPrefix(where, "http://") {
		return n.webSource(where, period)
	}
	info, err := os.Stat(where)
	if err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is a file; give the directory or the URL of a publication", where)
	}
	if err != nil {
		if err := checkDirectory(where); err != nil {
			return nil, err
		}
	}
	return dir.Open(where), nil
}

// checkDirectory returns an error if the name of a directory that does not exist was meant as a URL.
func checkDirectory(where string) error {
	if scheme, _, ok := strings.Cut(where, "://"); ok {
		return fmt.Errorf("URLs with %.20s:// are not supported; write http:// or https://, or the name of a directory", scheme)
	}
	first, _, _ := strings.Cut(where, "/")
	host, port, err := net.SplitHostPort(first)
	if err != nil {
		return nil
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return nil
	}
	return fmt.Errorf("%s:%s is an address and not a directory; write http://%s (or ./%[3]s for a directory)", host, port, where)
}

// webSource returns the source at a URL, with credentials. Those of the environment are for the user's nodes;
// they are not sent to other servers.
func (n Node) webSource(where string, period time.Duration) (share.Source, error) {
	u, err := url.Parse(where)
	if err != nil {
		return nil, fmt.Errorf("%q is not a URL", where)
	}
	o, err := n.credentials()
	if err != nil {
		return nil, err
	}
	if o.Token == "" && u.User == nil && strings.Contains(u.Path, "/v1/publications/") {
		o.Token = os.Getenv("UMBEL_CLIENT_TOKEN")
		if user := os.Getenv("UMBEL_CLIENT_USER"); user != "" && o.Token == "" {
			u.User = url.UserPassword(user, os.Getenv("UMBEL_CLIENT_PASSWORD"))
		}
	}
	client, err := remote.PublicationClient(u, o)
	if err != nil {
		return nil, err
	}
	return web.NewClient(u.String(), web.ClientOptions{HTTP: client, Poll: period, Timeout: n.Timeout})
}

// NotFound explains that a source has no publication.
func NotFound(ctx context.Context, source share.Source, err error, where string) error {
	if !errors.Is(err, share.ErrNotFound) {
		return err
	}
	if _, head := source.Record(ctx, share.HeadName); errors.Is(head, share.ErrNotFound) {
		return fmt.Errorf("%s has no publication: %w", where, err)
	}
	return fmt.Errorf("%s has a publication, but not all of it: %w", where, err)
}
