package glob

import (
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern string
		fits    []string
		not     []string
	}{
		{"", []string{""}, []string{"a"}},
		{"*", []string{"", "a", "a\x00\xff", "a*b"}, nil},
		{"a*", []string{"a", "ab"}, []string{"", "ba"}},
		{"*a", []string{"a", "ba", "aba"}, []string{"ab", ""}},
		{"a*b*c", []string{"abc", "axbxc", "abbcc", "abcbc"}, []string{"ac", "abcb"}},
		{"a**c", []string{"ac", "abc"}, []string{"a", "ab"}},
		{"?", []string{"a", "\xff"}, []string{"", "ab"}},
		{"h?llo", []string{"hello", "hallo"}, []string{"hllo"}},
		{"h[ae]llo", []string{"hello", "hallo"}, []string{"hillo", "hllo"}},
		{"h[^e]llo", []string{"hallo"}, []string{"hello", "hllo"}},
		{"h[a-c]llo", []string{"hallo", "hcllo"}, []string{"hdllo"}},
		{"h[c-a]llo", []string{"hbllo"}, []string{"hdllo"}},
		{"[a-]", []string{"a", "_", "]"}, []string{"b", "-"}}, // a range that ends in the bracket
		{"[]", nil, []string{"", "a", "]"}},
		{"[^]", []string{"a", "]"}, []string{"", "ab"}},
		{"[ab", []string{"a", "b"}, []string{"c", "[ab"}},
		{"[a-", []string{"a", "-"}, []string{"b"}},
		{"[", nil, []string{"[", "a", ""}},
		{`\*`, []string{"*"}, []string{"a", `\*`}},
		{`[\]]`, []string{"]"}, []string{`\`}},
		{`a\`, []string{`a\`}, []string{"a"}},
		{"A", []string{"A"}, []string{"a"}},
		{"*[0-9]x", []string{"12x", "x1x"}, []string{"xx"}},
	} {
		for _, name := range c.fits {
			if !Match(c.pattern, name) {
				t.Errorf("%q doesn't fit %q", name, c.pattern)
			}
		}
		for _, name := range c.not {
			if Match(c.pattern, name) {
				t.Errorf("%q fits %q", name, c.pattern)
			}
		}
	}
}

// Redis' own matcher, before it had a limit, took hours for this.
func TestManyStars(t *testing.T) {
	if Match(strings.Repeat("a*", 1000)+"b", strings.Repeat("a", 10000)) {
		t.Error("a name without b fits a pattern that ends in it")
	}
}

// plain is Match as one would first write it: right, and slow without end.
func plain(pattern, name string) bool {
	if pattern == "" {
		return name == ""
	}
	if pattern[0] == '*' {
		return plain(pattern[1:], name) || name != "" && plain(pattern, name[1:])
	}
	if name == "" {
		return false
	}
	next, ok := one(pattern, 0, name[0])
	return ok && plain(pattern[next:], name[1:])
}

func FuzzMatch(f *testing.F) {
	for _, s := range [][2]string{{"*a*b", "aabb"}, {"[^a-c]?", "xy"}, {`\*[`, "*"}, {"a*?*[b-", "aab-"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		got := Match(pattern, name)
		if Match([]byte(pattern), []byte(name)) != got {
			t.Fatal("bytes and strings differ")
		}
		if len(pattern) < 12 && len(name) < 12 && plain(pattern, name) != got {
			t.Fatalf("Match(%q, %q) = %v", pattern, name, got)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	b.ReportAllocs()
	name := []byte("crawl:2026-11-20:urls")
	for b.Loop() {
		if !Match("crawl:*:ur[il]s", name) {
			b.Fatal("doesn't fit")
		}
	}
}
