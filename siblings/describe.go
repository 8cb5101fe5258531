package siblings

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// describe returns the signed description of a node: a note whose text has three lines, the format, the name
// and the address of its cache.
func describe(o *Options) ([]byte, error) {
	text := fmt.Sprintf("%s\n%s\n%s\n", descriptionFormat, o.Key.Signer.Name(), strings.TrimSuffix(o.Cache.String(), "/"))
	return note.Sign(&note.Note{Text: text}, o.Key.Signer)
}

const (
	descriptionFormat = "umbel sibling 1"
	maxDescription    = 4 << 10
)

// openDescription returns the address of the cache in a description that the verifier's key has signed.
func openDescription(b []byte, verifier note.Verifier) (*url.URL, error) {
	if len(b) > maxDescription {
		return nil, fmt.Errorf("the description has more than %d bytes", maxDescription)
	}
	n, err := note.Open(b, note.VerifierList(verifier))
	if err != nil {
		return nil, errors.New("the description is not signed with the public key of the peer")
	}
	lines := strings.Split(n.Text, "\n")
	if len(lines) != 4 || lines[0] != descriptionFormat || lines[1] != verifier.Name() || lines[3] != "" {
		return nil, errors.New("the description has another format")
	}
	u, err := url.Parse(lines[2])
	if err != nil {
		return nil, fmt.Errorf("the address of the cache is %.200q, want a URL", lines[2])
	}
	return u, checkAddress(u)
}

// fetchDescription requests the description of a peer.
func fetchDescription(ctx context.Context, client *http.Client, p PeerOptions) (*url.URL, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL.JoinPath(Path, "peer").String(), nil)
	if err != nil {
		return nil, err
	}
	res, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusForbidden:
		return nil, errors.New("it refuses the token (403)")
	case http.StatusNotFound:
		return nil, errors.New("it has no address of a cache, or is no sidecar (404)")
	default:
		return nil, fmt.Errorf("its description has status %d", res.StatusCode)
	}
	b, err := io.ReadAll(io.LimitReader(res.Body, maxDescription+1))
	if err != nil {
		return nil, err
	}
	return openDescription(b, p.Verifier)
}
