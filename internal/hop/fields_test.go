package hop

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"testing"
)

func TestMend(t *testing.T) {
	for _, c := range []struct {
		name     string
		in, want http.Header // nil: refused
	}{
		{"tokens", http.Header{"A": {"1"}, "user-agent": {"x"}}, http.Header{"A": {"1"}, "user-agent": {"x"}}},
		{"a space before the colon", http.Header{"Cache-Control ": {"private"}}, http.Header{"Cache-Control": {"private"}}},
		{"lower case", http.Header{"vary  ": {"cookie"}}, http.Header{"Vary": {"cookie"}}},
		{"both forms", http.Header{"Set-Cookie ": {"b"}, "Set-Cookie": {"a"}}, http.Header{"Set-Cookie": {"a", "b"}}},
		{"a space inside", http.Header{"Cache Control": {"private"}}, nil},
		{"a leading space", http.Header{" Vary": {"cookie"}}, nil},
		{"only a space", http.Header{" ": {"x"}}, nil},
		{"length", http.Header{"Content-Length ": {"5"}}, nil},
		{"framing", http.Header{"transfer-encoding ": {"chunked"}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := c.in.Clone()
			switch err := Mend(h); {
			case c.want == nil && !errors.Is(err, ErrMalformed):
				t.Errorf("error %v, want %v", err, ErrMalformed)
			case c.want != nil && (err != nil || !maps.EqualFunc(h, c.want, slices.Equal)):
				t.Errorf("%v, %v, want %v", h, err, c.want)
			}
		})
	}
}

func TestRemove(t *testing.T) {
	h := http.Header{
		"Connection": {"close, x-hop", "Cache-Control, te"}, "X-Hop": {"1"}, "Cache-Control": {"private"}, "Te": {"trailers"}, "Upgrade": {"a"},
		"Proxy-Authorization": {"Basic eA=="}, "X-Stays": {"1"},
	}
	before := h.Clone()
	Remove(h)
	for name := range before {
		if _, stays := h[name]; Removes(before, name) == stays {
			t.Errorf("%s stays: %v", name, stays)
		}
	}
	if want := []string{"Cache-Control", "X-Stays"}; !slices.Equal(slices.Sorted(maps.Keys(h)), want) {
		t.Errorf("%v stay, want %v", h, want)
	}
}

func TestAuthenticatesConnection(t *testing.T) {
	for value, want := range map[string]bool{
		"NTLM TlRMTVNTUAAB": true, "negotiate YII=": true, "NTLM\tTlRM": true, "Negotiate": true, "Basic eA==, NTLM x": true,
		"Basic TlRMTQ==": false, "Bearer NTLM": false, "": false,
	} {
		if got := authenticatesConnection(http.Header{"Authorization": {value}}); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}
