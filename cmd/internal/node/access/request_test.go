package access

import (
	"errors"
	"net/http/httptest"
	"testing"
)

// The name that a request claims is known even if its password is wrong.
func TestRequest(t *testing.T) {
	token, sum := NewToken()
	us := parsed(t, `users: [{name: shop, passwords: ["`+cheap(t, "p")+`"], tokens: ["`+sum+`"], rules: [{rights: [read], names: [a]}]}]`)
	for _, c := range []struct {
		header, user, claimed string
		err                   error
	}{
		{"Basic c2hvcDpw", "shop", "shop", nil},          // shop:p
		{"basic c2hvcDpw", "shop", "shop", nil},          //
		{"Basic c2hvcDpx", "", "shop", ErrWrongPassword}, // shop:q
		{"Basic bm9ib2R5Og==", "", "nobody", ErrWrongPassword},
		{"Basic !", "", "", ErrCredentials},
		{"Bearer " + token, "shop", "", nil},
		{"Bearer x", "", "", ErrWrongPassword},
		{"Bearer", "", "", ErrWrongPassword},
		{"Digest x", "", "", ErrCredentials},
		{"", "", "", ErrNoCredentials},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Authorization", c.header)
		u, claimed, err := us.Request(r)
		if u.String() != c.user || claimed != c.claimed || !errors.Is(err, c.err) {
			t.Errorf("%q: user %q, claimed %q, error %v; want %q, %q, %v", c.header, u, claimed, err, c.user, c.claimed, c.err)
		}
	}
	open := parsed(t, `users: [{name: default, nopass: true, rules: [{rights: [read], names: [a]}]}]`)
	if u, _, err := open.Request(httptest.NewRequest("GET", "/", nil)); u.String() != "default" || err != nil {
		t.Errorf("without credentials: %q, %v", u, err)
	}
}
