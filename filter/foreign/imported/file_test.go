package imported_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/imported"
)

// sparkKeys returns the keys in the files of testdata, which a program in Java made by the arithmetic of Spark's classes
// (BloomFilterImpl, BloomFilterImplV2): bytes of several lengths, with bytes above 127, and integers.
func sparkKeys() (keys [][]byte) {
	for n := range 40 {
		b := fmt.Appendf(nil, "schlüssel-%d", n)
		b = b[:len(b)-n%5]
		b[len(b)-1] = byte(n * 37)
		keys = append(keys, b)
	}
	for n := range uint64(20) {
		keys = append(keys, binary.LittleEndian.AppendUint64(nil, n*0x123456789abcd-7))
	}
	return keys
}

// A filter with the same keys has the same file.
func TestSpark(t *testing.T) {
	for version := 1; version <= 2; version++ {
		file, err := os.ReadFile(fmt.Sprintf("testdata/spark%d.bloom", version))
		if err != nil {
			t.Fatal(err)
		}
		f, err := imported.ParseSpark(file)
		if err != nil {
			t.Fatal(err)
		}
		g, err := imported.NewShape(f.Shape())
		if err != nil {
			t.Fatal(err)
		}
		for i, key := range sparkKeys() {
			if !f.HasBytes(key) {
				t.Errorf("version %d: key %d is not found", version, i)
			}
			if i < 40 {
				g.AddBytes(key)
			} else {
				umbel.AddKey(g, binary.LittleEndian.Uint64(key))
			}
		}
		if got, err := g.AppendFile(nil, ""); err != nil || !bytes.Equal(got, file) {
			t.Errorf("version %d: a filter of the same keys has another file, %v", version, err)
		}
	}
}

// files returns a small file of each format.
func files(t testing.TB) map[string][]byte {
	t.Helper()
	all := make(map[string][]byte)
	for form := imported.Guava64; form <= imported.Blobloom; form++ {
		f, err := imported.NewShape(imported.Shape{Form: form, M: 1024, K: 3, Hasher: hasherOf(form)})
		if err != nil {
			t.Fatal(err)
		}
		f.AddString("alice")
		b, err := f.AppendFile(nil, "")
		if err != nil {
			t.Fatal(err)
		}
		all[form.String()] = b
	}
	m := binary.BigEndian.AppendUint64(nil, 70)
	all["bits-and-blooms"] = append(append(binary.BigEndian.AppendUint64(bytes.Clone(m), 3), m...), make([]byte, 16)...)
	all["bits-and-blooms JSON"] = []byte(`{"m":64,"k":2,"b":"AAAAAAAAAEAAAAAAAAAAAA=="}`)
	return all
}

func hasherOf(form imported.Form) umbel.Hasher {
	switch form {
	case imported.Guava64, imported.Guava32:
		return umbel.Hasher{Alg: umbel.Murmur3}
	case imported.Spark1, imported.Spark2:
		return umbel.Hasher{Alg: umbel.SparkMurmur3}
	}
	return umbel.Hasher{Alg: umbel.XXH64}
}

// parse parses b as each format. A file is written back as it was.
func parse(t testing.TB, b []byte) (parsed int) {
	t.Helper()
	check := func(f *imported.Filter, comment string, err error) {
		t.Helper()
		if err != nil {
			if !errors.Is(err, umbel.ErrCorrupt) {
				t.Errorf("%v, want ErrCorrupt", err)
			}
			return
		}
		parsed++
		if got, err := f.AppendFile(nil, comment); err != nil || !bytes.Equal(got, b) {
			t.Errorf("written back as another file, %v", err)
		}
	}
	f, err := imported.ParseGuava(b)
	check(f, "", err)
	f, err = imported.ParseSpark(b)
	check(f, "", err)
	f, comment, err := imported.ParseBlobloom(b, umbel.Hasher{Alg: umbel.XXH64})
	check(f, comment, err)
	g, err := imported.ParseBitsAndBlooms(b)
	switch {
	case err == nil:
		parsed++
		back, _ := g.AppendBinary(nil)
		if b[0] != '{' && !bytes.Equal(back, b) {
			t.Error("written back as another file")
		}
	case !errors.Is(err, umbel.ErrCorrupt):
		t.Errorf("%v, want ErrCorrupt", err)
	}
	return parsed
}

// Each file is of one format, and no part of it is a file.
func TestFiles(t *testing.T) {
	for name, b := range files(t) {
		if n := parse(t, b); n != 1 {
			t.Errorf("%s is read as %d formats", name, n)
		}
		for n := range b {
			if parse(t, b[:n]) != 0 {
				t.Errorf("the first %d bytes of %s are accepted", n, name)
			}
		}
		if parse(t, append(bytes.Clone(b), 0)) != 0 {
			t.Errorf("%s and one more byte are accepted", name)
		}
	}
}

func FuzzFiles(f *testing.F) {
	for _, b := range files(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { parse(t, b) })
}

// The program of blobloom hashed to 64 bits, which only two hashers can stand for.
func TestHasherOfBlobloom(t *testing.T) {
	b := files(t)["blobloom"]
	for alg := range umbel.Alg(20) {
		_, _, err := imported.ParseBlobloom(b, umbel.Hasher{Alg: alg})
		if ok := alg == umbel.XXH64 || alg == umbel.Caller; ok != (err == nil) || !ok && !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%v: %v", alg, err)
		}
	}
}

// A filter with another hasher than its library's has no file, since the library would miss keys.
func TestHasherOfFile(t *testing.T) {
	for form := imported.Guava64; form < imported.Blobloom; form++ {
		f, err := imported.NewShape(imported.Shape{Form: form, M: 1024, K: 3})
		if err != nil {
			t.Fatal(err)
		}
		if b, err := f.AppendFile([]byte("x"), ""); !errors.Is(err, umbel.ErrMismatch) || string(b) != "x" {
			t.Errorf("%v: %q, %v, want ErrMismatch", form, b, err)
		}
	}
}
