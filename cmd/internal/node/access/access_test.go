package access

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// cheap is a hash of argon2id that takes no time, for tests.
func cheap(t *testing.T, password string) string {
	t.Helper()
	h, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return string(h)
}

func parsed(t *testing.T, file string) *Users {
	t.Helper()
	us, err := Parse([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	return us
}

const twoUsers = `
users:
  - name: shop
    passwords: [PASSWORD]
    tokens: [TOKEN]
    certificates: [shop.example]
    rules:
      - {rights: [read, add], names: ["shop:*"]}
      - {rights: [read], names: [public]}
  - name: root
    passwords: [PASSWORD2]
    rules:
      - {rights: [admin]}
  - name: gone
    enabled: false
    passwords: [PASSWORD]
    rules: [{rights: [read], names: ["*"]}]
`

func TestMay(t *testing.T) {
	us := parsed(t, strings.NewReplacer("PASSWORD2", cheap(t, "r"), "PASSWORD", cheap(t, "p"), "TOKEN", HashToken("t")).Replace(twoUsers))
	shop, err := us.Password("shop", "p")
	if err != nil {
		t.Fatal(err)
	}
	root, err := us.Password("root", "r")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		user  *User
		right Right
		name  []byte
		want  bool
	}{
		{shop, Read, []byte("shop:1"), true},
		{shop, Add, []byte("shop:1"), true},
		{shop, Remove, []byte("shop:1"), false},
		{shop, Read, []byte("public"), true},
		{shop, Add, []byte("public"), false},
		{shop, Read, []byte("other"), false},
		{shop, Read, nil, false},
		{shop, Admin, nil, false},
		{root, Admin, nil, true},
		{root, Read, []byte("public"), false},
		{Everyone(), Admin, nil, true},
		{Everyone(), Remove, []byte{}, true},
		{nil, Read, []byte("public"), false},
		{&User{Name: "made up"}, Read, []byte("public"), false},
	} {
		if got := c.user.May(c.right, c.name); got != c.want {
			t.Errorf("%v: %v over %q is %v", c.user, c.right, c.name, got)
		}
	}
	if n := testing.AllocsPerRun(100, func() { shop.May(Read, []byte("public")) }); n != 0 {
		t.Errorf("May allocates %v times", n)
	}
}

func TestLogin(t *testing.T) {
	token, sum := NewToken()
	us := parsed(t, strings.NewReplacer("PASSWORD2", cheap(t, "r"), "PASSWORD", cheap(t, "p"), "TOKEN", sum).Replace(twoUsers))
	for range 2 { // the second time from memory
		if u, err := us.Password("shop", "p"); err != nil || u.Name != "shop" {
			t.Errorf("shop: %v, %v", u, err)
		}
	}
	for _, c := range [][2]string{{"shop", "r"}, {"shop", ""}, {"nobody", "p"}, {"gone", "p"}, {"", "p"}, {"shopp", ""}} {
		if u, err := us.Password(c[0], c[1]); u != nil || !errors.Is(err, ErrWrongPassword) {
			t.Errorf("%q: %v, %v", c, u, err)
		}
	}
	if u, err := us.loginToken(token); err != nil || u.Name != "shop" {
		t.Errorf("token: %v, %v", u, err)
	}
	for _, wrong := range []string{"", token + "x", sum} {
		if u, err := us.loginToken(wrong); u != nil || !errors.Is(err, ErrWrongPassword) {
			t.Errorf("token %q: %v, %v", wrong, u, err)
		}
	}
	if us.Default() != nil {
		t.Error("there is a default user")
	}
}

func TestDefault(t *testing.T) {
	us := parsed(t, "users: [{name: default, nopass: true, passwords: ["+cheap(t, "p")+`], rules: [{rights: [read], names: ["a*"]}]}]`)
	u := us.Default()
	if !u.May(Read, []byte("ab")) || u.May(Add, []byte("ab")) {
		t.Error("the default user has other rights")
	}
	if named, err := us.Password("", "p"); err != nil || named != u {
		t.Errorf("a password alone: %v, %v", named, err)
	}
}

// New hashes are what this package reads, in the form that others write.
func TestHashPassword(t *testing.T) {
	p := NewPassword()
	s, err := HashPassword(p)
	if err != nil {
		t.Fatal(err)
	}
	h, err := parseHash(s)
	if err != nil {
		t.Fatal(err)
	}
	if !h.matches(p) || h.matches(p+"x") {
		t.Errorf("%s isn't the hash of %s", s, p)
	}
	if _, err := HashPassword(""); err == nil {
		t.Error("an empty password has a hash")
	}
}

// The reference implementation's own vector (argon2's test.c, Argon2id, version 0x13).
func TestArgonOfOthers(t *testing.T) {
	h, err := parseHash("$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4")
	if err != nil {
		t.Fatal(err)
	}
	if !h.matches("password") || h.matches("Password") {
		t.Error("the vector doesn't fit")
	}
}

func TestHostileHashes(t *testing.T) {
	for _, s := range []string{
		"", "secret", "$argon2id$", "$argon2i$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"$argon2id$v=16$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"$argon2id$v=19$m=4294967295,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"$argon2id$v=19$m=256,t=4000000000,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"$argon2id$v=19$m=256,t=0,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"$argon2id$v=19$m=256,t=2,p=0$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"$argon2id$v=19$m=256,t=2,p=255$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"$argon2id$v=19$m=256,t=2,p=1,x=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65",
		"$argon2id$v=19$m=256,t=2,p=1$$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"$2b$31$abcdefghijklmnopqrstuuZ3FqR0M2vj1s5ZC1bXQ0Qx1xZ0lqz1q", "$2b$04$", "$2b$xx$",
	} {
		if h, err := parseHash(s); err == nil {
			t.Errorf("%q is taken: %v", s, h)
		}
	}
}

func TestFileErrors(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"", "no users"},
		{"users: []", "no users"},
		{"users: x", "line 1: want a list"},
		{"- a", "line 1: want keys and values"},
		{"user: []", "line 1: key \"user\" not found"},
		{"users:\n- name: a\n  pasword: x", "line 3: key \"pasword\" not found"},
		{"users:\n- name: a\n- name: a", "duplicate user \"a\""},
		{"users:\n- name: a\n  name: b", "line 3: key \"name\" already defined"},
		{"users:\n- rules: []", "user 1 has no name"},
		{"users:\n- name: a\n  passwords: [hunter2]", "user \"a\": password 1: invalid password hash"},
		{"users:\n- name: a\n  tokens: [abc]", "user \"a\": token 1: invalid token hash"},
		{"users:\n- name: a\n  rules: [{rights: [write], names: [a]}]", "user \"a\": rule 1: right 1: \"write\""},
		{"users:\n- name: a\n  rules: [{names: [a]}]", "user \"a\": rule 1: has no rights"},
		{"users:\n- name: a\n  rules: [{rights: [read]}]", "rule 1: has no names"},
		{"users:\n- name: a\n  rules: [{rights: [admin], names: [a]}]", "rule 1: admin is a right for the server"},
		{"users:\n- name: a\n  rules: [{rights: [read], names: ['[a']}]", "has an unclosed ["},
		{"users:\n- name: a\n  enabled: 1", "line 3: want true or false"},
		{"users:\n- name: a\n  nopass: true", "user \"a\": nopass is only for the user"},
		{"users:\n- &a {name: a}\n- *a", "duplicate user \"a\""},
		{"users:\n- name: a\n  passwords: hunter2", "line 3: want a list"},
		{"users:\n- name: a\n  passwords: {hunter2: x}", "line 3: want a list"},
		{"users:\n- name: a\n  passwords: [[hunter2]]", "line 3: want a string"},
		{"users:\n- name: a\n  nopass: 'hunter2` into string'", "line 3: want true or false"},
		{"users:\n- name: a\n  tokens: [hunter2]", "invalid token hash"},
		{"users:\n- hunter2", "line 2: want keys and values"},
		{"users:\n- name: a\n  certificates: [c]\n- name: b\n  certificates: [c]", "have the same certificate"},
		{"users: [{name: a}]\n---\nusers: [{name: b}]", "more than one document"},
		{"users:\n\t- a", "line 2"},
	} {
		_, err := Parse([]byte(c.file))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.file, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Error("the error shows a password")
		}
	}
}

func TestReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "users.yaml")
	write := func(rules string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(rules), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pw := cheap(t, "p")
	write("users: [{name: a, passwords: [" + pw + "], rules: [{rights: [read], names: [x]}]}]")
	us, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	u, err := us.Password("a", "p")
	if err != nil {
		t.Fatal(err)
	}
	x := []byte("x")
	write("users: [{name: a, passwords: [" + pw + "], rules: [{rights: [add], names: [x]}]}]")
	if err := us.Reload(); err != nil {
		t.Fatal(err)
	}
	if u.May(Read, x) || !u.May(Add, x) {
		t.Error("a client that has logged in keeps its old rights")
	}
	write("users: [")
	if err := us.Reload(); err == nil || !u.May(Add, x) {
		t.Errorf("a broken file: %v, rights %v", err, u.May(Add, x))
	}
	write("users: [{name: b}]")
	if err := us.Reload(); err != nil {
		t.Fatal(err)
	}
	if u.May(Add, x) {
		t.Error("a user that is gone has rights")
	}
	if _, err := us.Password("a", "p"); !errors.Is(err, ErrWrongPassword) {
		t.Errorf("a user that is gone logs in: %v", err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		token, sum := NewToken()
		us := parsed(t, "users: [{name: a, passwords: ["+cheap(t, "p")+"], tokens: [\""+sum+"\"]}, {name: b, passwords: ["+cheap(t, "p")+"]}]")
		const here = "[2001:db8::1]:1"
		for range maxFailures {
			if _, err := us.Login(here, "a", "x"); !errors.Is(err, ErrWrongPassword) {
				t.Fatal(err)
			}
		}
		if _, err := us.Login("[2001:db8::ffff:0:0:1]:2", "a", "p"); !errors.Is(err, ErrTooMany) {
			t.Errorf("after %d failures: %v", maxFailures, err)
		}
		// A proxy's address is that of many clients. Failures of one lock out neither other users,
		// nor tokens, which cannot be guessed.
		if _, err := us.Login(here, "b", "p"); err != nil {
			t.Errorf("another user: %v", err)
		}
		if _, err := us.loginToken(token); err != nil {
			t.Errorf("a token: %v", err)
		}
		if _, err := us.Login("192.0.2.2:1", "a", "p"); err != nil {
			t.Errorf("from elsewhere: %v", err)
		}
		time.Sleep(forgiven)
		if _, err := us.Login(here, "a", "p"); err != nil {
			t.Errorf("later: %v", err)
		}
	})
}

// A login that succeeded before succeeds even if others send wrong passwords from the same address.
func TestVerifiedBeforeFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hash := cheap(t, "p")
		us := parsed(t, "users: [{name: a, passwords: ["+hash+"]}]")
		const here = "192.0.2.1:1"
		if _, err := us.Login(here, "a", "p"); err != nil {
			t.Fatal(err)
		}
		for range maxFailures + 1 {
			_, _ = us.Login(here, "a", "x")
			_, _ = us.loginToken("x")
		}
		if _, err := us.Login(here, "a", "x"); !errors.Is(err, ErrTooMany) {
			t.Errorf("a wrong password: %v", err)
		}
		if _, err := us.Login(here, "a", "p"); err != nil {
			t.Errorf("a verified login: %v", err)
		}
		file := "users: [{name: a, passwords: [" + hash + "]}, {name: b}]"
		if err := us.install([]byte(file)); err != nil {
			t.Fatal(err)
		}
		if _, err := us.Login(here, "a", "p"); err != nil {
			t.Errorf("a verified login after the file was read again: %v", err)
		}
		if _, err := us.loginToken("x"); !errors.Is(err, ErrWrongPassword) {
			t.Errorf("a wrong token: %v", err)
		}
		if got, want := us.Failed(), uint64(2*(maxFailures+1)+2); got != want {
			t.Errorf("%d logins have failed, want %d", got, want)
		}
	})
}

// A login that was verified is forgotten when the password changes, or the user is deleted or disabled.
func TestVerifiedUntilChanged(t *testing.T) {
	hash, other := cheap(t, "p"), cheap(t, "q")
	for _, after := range []string{
		"users: [{name: a, passwords: [" + other + "]}]",
		"users: [{name: a, enabled: false, passwords: [" + hash + "]}]",
		"users: [{name: b, passwords: [" + hash + "]}]",
	} {
		us := parsed(t, "users: [{name: a, passwords: ["+hash+"]}]")
		if _, err := us.Login("", "a", "p"); err != nil {
			t.Fatal(err)
		}
		if err := us.install([]byte(after)); err != nil {
			t.Fatal(err)
		}
		if _, err := us.Login("", "a", "p"); !errors.Is(err, ErrWrongPassword) {
			t.Errorf("%s: %v", after, err)
		}
	}
}

// Few failures are remembered, from however many addresses they come.
func TestFailuresAreFew(t *testing.T) {
	var f failures
	for i := range 2 * maxPlaces {
		p, _ := network(fmt.Sprintf("10.%d.%d.%d:1", byte(i>>16), byte(i>>8), byte(i)))
		f.count(place{network: p}, time.Now())
	}
	if len(f.until) > maxPlaces {
		t.Errorf("%d addresses are remembered", len(f.until))
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(twoUsers))
	f.Add([]byte("users: [{name: default, nopass: true, tokens: [" + HashToken("t") + "], rules: [{rights: [read, admin], names: [a, '*']}]}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		us, err := Parse(data)
		if err != nil {
			return
		}
		for _, e := range us.current.Load().byName {
			if !e.enabled && e.May(Read, []byte("x")) {
				t.Errorf("%s is disabled and has rights", e.name)
			}
		}
	})
}

func BenchmarkMay(b *testing.B) {
	us, err := Parse([]byte(`users: [{name: a, rules: [{rights: [read], names: ["b*", "shop:*:seen"]}]}]`))
	if err != nil {
		b.Fatal(err)
	}
	u, name := us.current.Load().byName["a"].User, []byte("shop:12345:seen")
	b.ReportAllocs()
	for b.Loop() {
		if !u.May(Read, name) {
			b.Fatal("no")
		}
	}
}

func BenchmarkPassword(b *testing.B) {
	h, err := HashPassword("p")
	if err != nil {
		b.Fatal(err)
	}
	us, err := Parse([]byte("users: [{name: a, passwords: ['" + h + "']}]"))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			us.Password("a", "wrong")
		}
	})
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			us.Password("a", "p")
		}
	})
}
