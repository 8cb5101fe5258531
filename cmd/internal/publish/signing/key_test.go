package signing

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
)

func TestRead(t *testing.T) {
	private, public, err := note.GenerateKey(rand.Reader, "example.org/words")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "words.key")
	write := func(text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, mode := range []os.FileMode{0o600, 0o640, 0o400} {
		write(private+"\n", 0o600)
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		k, err := Read(file)
		if err != nil || k.Public != public || k.Signer.Name() != "example.org/words" {
			t.Errorf("mode %o: key %q, %v; want %q", mode, k.Public, err, public)
			continue
		}
		n, err := note.Sign(&note.Note{Text: "text\n"}, k.Signer)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := note.Open(n, note.VerifierList(k.Verifier)); err != nil {
			t.Errorf("the verifier refuses what the signer signed: %v", err)
		}
		os.Chmod(file, 0o600)
	}
	for _, text := range []string{"", public, strings.ToLower(private), private + "x"} {
		write(text, 0o600)
		if _, err := Read(file); err == nil || len(text) > 0 && strings.Contains(err.Error(), text) {
			t.Errorf("%q: error %v", text, err)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	for _, mode := range []os.FileMode{0o644, 0o604, 0o602} {
		write(private, mode)
		if _, err := Read(file); !errors.Is(err, errExposed) {
			t.Errorf("mode %o: error %v, want %v", mode, err, errExposed)
		}
	}
	if _, err := Read(t.TempDir()); err == nil {
		t.Error("a directory is read")
	}
}
