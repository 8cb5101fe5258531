package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/remote"
)

// toldByNode returns an error in the words of who asked a node, with what to do about it;
// errors of other origin as they are.
func toldByNode(err error) error {
	if e, ok := errors.AsType[*remote.Error](err); ok {
		return withHint(fmt.Errorf("node says: %w", err), hintOf(e))
	}
	if e, ok := errors.AsType[*remote.ConnectError](err); ok {
		return withHint(err, silenceHint(e))
	}
	return err
}

func withHint(err error, hint string) error {
	if hint == "" {
		return err
	}
	return fmt.Errorf("%w; %s", err, hint)
}

// hintOf says what to do about what a node said.
func hintOf(e *remote.Error) string {
	switch {
	case e.Status == http.StatusUnauthorized:
		return "say who asks: --token-file, UMBEL_CLIENT_TOKEN, or UMBEL_CLIENT_USER and UMBEL_CLIENT_PASSWORD"
	case e.Status == http.StatusBadRequest && strings.Contains(e.Detail, "not as umbel does"):
		return "if it speaks TLS, its address begins with https://"
	case errors.Is(e, engine.ErrNotFound):
		return fmt.Sprintf("umbel list --addr %s says what there is", e.Node)
	case errors.Is(e, engine.ErrExists):
		return "take another name, or umbel delete it first"
	case errors.Is(e, errors.ErrUnsupported):
		return "umbel kinds says which kinds can do what"
	case e.Status == http.StatusServiceUnavailable:
		return "its log says why; try again later"
	}
	return ""
}

// silenceHint says what to do where nobody answered, or somebody who can't be understood.
func silenceHint(e *remote.ConnectError) string {
	var (
		untrusted x509.UnknownAuthorityError
		named     x509.HostnameError
		plain     tls.RecordHeaderError
	)
	op, isOp := errors.AsType[*net.OpError](e.Err)
	switch {
	case errors.As(e.Err, &untrusted):
		return "--cacert FILE names the certificates to trust"
	case errors.As(e.Err, &named):
		return "ask by a name that its certificate has"
	case errors.As(e.Err, &plain), strings.Contains(e.Err.Error(), "HTTP response to HTTPS client"):
		return "it speaks no TLS: its address begins with http://"
	case strings.Contains(e.Err.Error(), "malformed HTTP"):
		return "it doesn't speak HTTP: --addr wants the address that umbel serve --http has, not that of Redis clients"
	case strings.Contains(e.Err.Error(), "certificate required"):
		return "--client-cert and --client-key name the own certificate and its key"
	case isOp && op.Op == "dial":
		return "nobody answers there: umbel serve starts a node"
	}
	return ""
}
