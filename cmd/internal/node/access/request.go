package access

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

var (
	// ErrNoCredentials means that an HTTP request needs credentials and has none.
	ErrNoCredentials = errors.New("authentication required: bearer token, basic credentials or client certificate")
	// ErrCredentials means that the credentials of an HTTP request cannot be read.
	ErrCredentials = errors.New("invalid Authorization header; use Bearer, Basic or a client certificate")
)

// Request returns the user of an HTTP request: that of its Authorization header, of its client certificate, or
// the default user. claimed is the user's name in the header, "" if it contains none. The error is
// ErrNoCredentials, ErrCredentials, ErrWrongPassword or ErrTooMany, or wraps it.
func (us *Users) Request(r *http.Request) (u *User, claimed string, err error) {
	scheme, credentials, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case strings.EqualFold(scheme, "Bearer"):
		u, err = us.loginToken(strings.TrimSpace(credentials))
		return u, "", err
	case strings.EqualFold(scheme, "Basic"):
		name, password, ok := r.BasicAuth()
		if !ok {
			return nil, "", ErrCredentials
		}
		u, err = us.Login(r.RemoteAddr, name, password)
		return u, name, err
	case scheme != "":
		return nil, "", fmt.Errorf("%w, not %.20q", ErrCredentials, scheme)
	}
	if u := us.Certificate(r.TLS); u != nil {
		return u, "", nil
	}
	if u := us.Default(); u != nil {
		return u, "", nil
	}
	return nil, "", ErrNoCredentials
}
