package squid

import (
	"errors"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// TestCanonicalURI: the results up to the empty line were found in the store of Squid 5.7.
func TestCanonicalURI(t *testing.T) {
	for uri, want := range map[string]string{
		"http://127.0.0.1:8000/a?q#frag": "http://127.0.0.1:8000/a?q#frag",
		"HTTP://EXAMPLE.test:8000/Up":    "http://example.test:8000/Up",
		"http://example.test.:8000/dot":  "http://example.test:8000/dot",
		"http://127.0.0.1:8000":          "http://127.0.0.1:8000/",
		"http://127.0.0.1:8000?q=1":      "http://127.0.0.1:8000/?q=1",
		"http://127.0.0.1:8000#f":        "http://127.0.0.1:8000/#f",
		"http://127.0.0.1:8000/%7Eu/%2f": "http://127.0.0.1:8000/%7Eu/%2f",
		"http://127.0.0.1:8000/a/../b":   "http://127.0.0.1:8000/a/../b",
		"http://127.0.0.1:8000/sp ace":   "http://127.0.0.1:8000/space",
		"http://127.0.0.1:8000/é":        "http://127.0.0.1:8000/é",
		"http://example.test:08000/zero": "http://example.test:8000/zero",
		"http://127.0.0.1:8000/a|b\"<>":  "http://127.0.0.1:8000/a|b\"<>",
		"http://127.0.0.1:8000//x":       "http://127.0.0.1:8000//x",
		"http://127.0.0.1:8000/tail?":    "http://127.0.0.1:8000/tail?",

		"http://example.test:80/":           "http://example.test/",
		"https://example.test:443/":         "https://example.test/",
		"https://example.test:80/":          "https://example.test:80/",
		"ftp://example.test:21/f":           "ftp://example.test/f",
		"http://user:p@ss@example.test/x@y": "http://example.test/x@y",
		"http://[::1]:80/":                  "http://[::1]/",
		"http://[2001:DB8::1]:8080/":        "http://[2001:db8::1]:8080/",
		"http://example.test:/":             "http://example.test/",
		"urn-x://example.test:80":           "urn-x://example.test:80/",
	} {
		got, err := CanonicalURI(uri)
		if err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", uri, got, err, want)
		}
		if again, err := CanonicalURI(got); err != nil || again != got {
			t.Errorf("%s: %q becomes %q, %v, want it unchanged", uri, got, again, err)
		}
	}
	for _, uri := range []string{"", "/path", "example.test/", "example.test:80", "://x/", "http:///x", "http://:80/", "http://./",
		"http://x:0/", "http://x:65536/", "http://x:+80/", "http://x:8a/", "http://[::1/", "http://[::1]x/", "1http://x/", "http://x/\x00", "http://x/\x7f", "http://a<b/", "http://a..b/", "http://a../"} {
		if got, err := CanonicalURI(uri); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%q: %q, %v, want ErrGoal", uri, got, err)
		}
	}
}

// TestVaryMark: the marks were found in the store of Squid 5.7, with its keys.
func TestVaryMark(t *testing.T) {
	language := func(value string) []Field { return []Field{{Name: "Accept-Language", Value: value}} }
	for want, fields := range map[string][]Field{
		"":                        nil,
		`accept-language="en-GB"`: language("en-GB"),
		`accept-language="de-CH,%20fr%3Bq%3D0.5"`:   language("de-CH, fr;q=0.5"),
		`accept-language="x%E9y%09"`:                language("x\xe9y\t"),
		`accept-language=""`:                        language(""),
		`accept-language="a", x-foo`:                {{Name: "Accept-Language", Value: "a"}, {Name: "X-Foo", Absent: true}},
		`accept-language="a", x-foo="1,%202"`:       {{Name: "Accept-Language", Value: "a"}, {Name: "X-Foo", Value: "1, 2"}},
		`accept-encoding="` + unescaped + `09AZaz"`: {{Name: "Accept-Encoding", Value: unescaped + "09AZaz"}},
		`accept-encoding="%20%22%23%25%26%27%2F%3A%3B%3C%3D%3E%3F%40%5B%5C%5D%5E%60%7B%7C%7D%7E"`: {{Name: "Accept-Encoding", Value: " \"#%&'/:;<=>?@[\\]^`{|}~"}},
	} {
		if got := VaryMark(fields...); got != want {
			t.Errorf("%+v: %s, want %s", fields, got, want)
		}
	}
	key := Hasher.HashBytes(AppendKey(nil, MethodGet, "http://127.0.0.1:8000/v/0", VaryMark(language("en-GB")...)))
	if got := strings.ToUpper(key.String()); got != "42A4B46B79ABD41A8BCFDC37D471C179" {
		t.Errorf("the key of a variant is %s", got)
	}
}

func TestMethods(t *testing.T) {
	for m, name := range map[Method]string{MethodGet: "GET", methodPost: "POST", methodPut: "PUT", methodHead: "HEAD",
		methodConnect: "CONNECT", methodTrace: "TRACE", methodOptions: "OPTIONS", methodDelete: "DELETE"} {
		if got := fixture.Must(ParseMethod(name)); got != m || m.String() != name {
			t.Errorf("%s: %d, which prints as %v, want %d", name, got, m, m)
		}
	}
	if MethodGet != 1 || methodHead != 4 || methodDelete != 8 {
		t.Error("the numbers of methods differ from Squid's")
	}
	for _, name := range []string{"", "get", "PURGE"} {
		if _, err := ParseMethod(name); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%q: %v, want ErrGoal", name, err)
		}
	}
	if got := Method(9).String(); got != "method(9)" {
		t.Errorf("an unknown method prints as %s", got)
	}
}

// FuzzCanonicalURI: a result is its own canonical form and contains neither whitespace nor control characters.
func FuzzCanonicalURI(f *testing.F) {
	f.Add("HTTP://user@EXAMPLE.test.:80?q#f")
	f.Fuzz(func(t *testing.T, uri string) {
		got, err := CanonicalURI(uri)
		if err != nil {
			if !errors.Is(err, umbel.ErrGoal) {
				t.Fatalf("%v doesn't wrap ErrGoal", err)
			}
			return
		}
		if again, err := CanonicalURI(got); err != nil || again != got {
			t.Fatalf("%q becomes %q and then %q, %v", uri, got, again, err)
		}
		if strings.ContainsAny(got, " \t\r\n\x00\x7f") {
			t.Fatalf("%q becomes %q", uri, got)
		}
	})
}
