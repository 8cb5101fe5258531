package access

import (
	"errors"
	"strings"
	"testing"
)

// A change of one user leaves the others and all comments as they are.
func TestEdit(t *testing.T) {
	file := []byte(strings.NewReplacer("PASSWORD2", cheap(t, "r"), "PASSWORD", cheap(t, "p"), "TOKEN", HashToken("t")).Replace(
		"# managed by hand\n" + strings.Replace(twoUsers, "  - name: root", "  # the operator\n  - name: root", 1)))
	replaced, err := ReplaceUser(file, "shop", func(u *FileUser) { u.Passwords = []string{cheap(t, "new")} })
	if err != nil {
		t.Fatal(err)
	}
	us := parsed(t, string(replaced))
	if _, err := us.Password("shop", "p"); !errors.Is(err, ErrWrongPassword) {
		t.Errorf("the old password: error %v", err)
	}
	shop, err := us.Password("shop", "new")
	if err != nil {
		t.Fatal(err)
	}
	if !shop.May(Add, []byte("shop:1")) || shop.May(Add, []byte("public")) || !shop.May(Read, []byte("public")) {
		t.Error("the rights are others")
	}
	if _, err := us.loginToken("t"); err != nil {
		t.Error(err)
	}
	if _, err := us.Password("root", "r"); err != nil {
		t.Error(err)
	}
	for _, comment := range []string{"# managed by hand", "# the operator"} {
		if !strings.Contains(string(replaced), comment) {
			t.Errorf("%q is missing in\n%s", comment, replaced)
		}
	}

	deleted, err := DeleteUser(replaced, "shop")
	if err != nil {
		t.Fatal(err)
	}
	us = parsed(t, string(deleted))
	if _, err := us.Password("shop", "new"); err == nil {
		t.Error("a deleted user logged in")
	}
	if _, err := us.Password("root", "r"); err != nil || strings.Contains(string(deleted), "shop") {
		t.Errorf("%v, the file is\n%s", err, deleted)
	}

	added, err := AddUser(deleted, FileUser{Name: "late", Passwords: []string{cheap(t, "l")}, Rules: []FileRule{{[]string{"read"}, []string{"*"}}}})
	if err != nil || !strings.HasPrefix(string(added), string(deleted)) {
		t.Errorf("%v, the file is\n%s", err, added)
	}
	if _, err := parsed(t, string(added)).Password("late", "l"); err != nil {
		t.Error(err)
	}
}

func TestEditRefused(t *testing.T) {
	one := "users: [{name: a, passwords: [" + cheap(t, "p") + "], rules: [{rights: [read], names: ['*']}]}]\n"
	if _, err := DeleteUser([]byte(one), "b"); !errors.Is(err, errNoUser) {
		t.Errorf("an unknown user: error %v", err)
	}
	if b, err := DeleteUser([]byte(one), "a"); err == nil {
		t.Errorf("the last user was deleted: %s", b)
	}
	if b, err := ReplaceUser([]byte(one), "a", func(u *FileUser) { u.Rules[0].Rights = []string{"write"} }); err == nil {
		t.Errorf("a right that does not exist: %s", b)
	}
	if b, err := ReplaceUser([]byte("users: 7"), "a", func(*FileUser) {}); err == nil {
		t.Errorf("a file of something else: %s", b)
	}
}
