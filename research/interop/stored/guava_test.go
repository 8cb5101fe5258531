package stored

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/imported"
)

// TestGuava: a filter that Guava wrote answers as Guava does, is written back byte for byte, and Guava finds keys that
// were added here.
func TestGuava(t *testing.T) {
	const jar = "/usr/share/java/guava.jar" // Debian's package libguava-java
	if _, err := exec.LookPath("javac"); err != nil {
		t.Skip("no Java compiler: apt install default-jdk-headless libguava-java")
	}
	if _, err := os.Stat(jar); err != nil {
		t.Skip("no Guava: apt install libguava-java")
	}
	dir := t.TempDir()
	if out, err := exec.Command("javac", "-cp", jar, "-d", dir, "Guava.java").CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	guava := func(args ...string) string {
		t.Helper()
		all := append([]string{"-cp", dir + ":" + jar + ":/usr/share/java/failureaccess.jar", "Guava"}, args...)
		out, err := exec.Command("java", all...).CombinedOutput()
		if err != nil {
			t.Fatalf("java %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	for _, funnel := range []string{"string", "long"} {
		name := filepath.Join(dir, funnel)
		guava(funnel, "write", name, "20000", "0.01")
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := imported.ParseGuava(file)
		if err != nil {
			t.Fatal(err)
		}
		add, has := keysOf(f, funnel)
		for i := range uint64(20_000) {
			if !has(i) {
				t.Fatalf("%s %d is not found", funnel, i)
			}
		}
		found := 0
		for i := uint64(20_000); i < 220_000; i++ {
			if has(i) {
				found++
			}
		}
		if got := guava(funnel, "count", name, "20000", "220000"); got != fmt.Sprint(found) {
			t.Errorf("%s: %d false positives of 200000, Guava has %s", funnel, found, got)
		}
		if back, err := f.AppendFile(nil, ""); err != nil || !bytes.Equal(back, file) {
			t.Errorf("%s: written back as another file, %v", funnel, err)
		}
		for i := uint64(1 << 40); i < 1<<40+1000; i++ {
			add(i)
		}
		if file, err = f.AppendFile(nil, ""); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, file, 0o666); err != nil {
			t.Fatal(err)
		}
		if got := guava(funnel, "count", name, fmt.Sprint(1<<40), fmt.Sprint(1<<40+1000)); got != "1000" {
			t.Errorf("%s: Guava finds %s of 1000 keys that were added here", funnel, got)
		}
	}
}

// keysOf returns functions that add and query key number i of Guava.java.
func keysOf(f *imported.Filter, funnel string) (add, has func(i uint64) bool) {
	if funnel == "long" {
		return func(key uint64) bool { return umbel.AddKey(f, key) }, func(key uint64) bool { return umbel.HasKey(f, key) }
	}
	key := func(i uint64) string { return fmt.Sprintf("key-ä-%d", i) }
	return func(i uint64) bool { return f.AddString(key(i)) }, func(i uint64) bool { return f.HasString(key(i)) }
}
