//go:build !purego

package mapped_test

import (
	"bufio"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/wire/mapped"
)

// reads are the kinds whose cells Open reads, each with the reason.
var reads = map[string]string{
	"folding": "the fold that answers is made from the cells",
	"sparse":  "the list of positions is checked",
}

// Opening a filter and a query touch some pages of the file: the system maps up to 64 KiB around each.
func TestTouchesFewPages(t *testing.T) {
	for _, kind := range filter.All {
		f, ds := large(t, kind)
		path := written(t, f)
		x := open(t, path)
		opened := resident(t, path)
		if _, err := x.Has(ds[0]); err != nil {
			t.Fatal(err)
		}
		queried := resident(t, path)
		t.Logf("%s: %d KiB opened, %d KiB queried, of %d", kind.Name, opened>>10, queried>>10, f.State().Bytes()>>10)
		if most := f.State().Bytes() / 4; (opened > most) != (reads[kind.Name] != "") {
			t.Errorf("%s: Open touches %d bytes of %d", kind.Name, opened, f.State().Bytes())
		}
		if most := opened + 40<<16; queried > most {
			t.Errorf("%s: a query touches %d bytes of %d", kind.Name, queried-opened, f.State().Bytes())
		}
	}
}

// resident returns the bytes of a file that are in the memory of this process, and fails if some are not shared with others.
func resident(t *testing.T, path string) (n uint64) {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	ours := false
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Fields(s.Text())
		switch {
		case len(fields) >= 5 && strings.Contains(fields[0], "-"):
			ours = strings.HasSuffix(s.Text(), path)
		case ours && fields[0] == "Rss:":
			kib, err := strconv.ParseUint(fields[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			n += kib << 10
		case ours && fields[0] == "Anonymous:" && fields[1] != "0":
			t.Errorf("%s KiB of the file are memory of this process alone", fields[1])
		}
	}
	return n
}

// If a file becomes shorter while it is open, queries of what is missing return an error, and others their answers. They answer again when
// the file has its bytes back.
func TestTruncated(t *testing.T) {
	path, b, ds := bloomFile(t)
	x := open(t, path)
	if err := os.Truncate(path, int64(len(b)/2/os.Getpagesize()*os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	failed, found := 0, 0
	for _, d := range ds {
		switch has, err := x.Has(d); {
		case errors.Is(err, mapped.ErrPage):
			failed++
		case err != nil || !has:
			t.Fatal(has, err)
		default:
			found++
		}
	}
	if failed < len(ds)/2 || found == 0 {
		t.Errorf("%d of %d queries failed, %d found their key", failed, len(ds), found)
	}
	if err := x.HasAll(make([]bool, len(ds)), ds); !errors.Is(err, mapped.ErrPage) {
		t.Errorf("a batch: %v", err)
	}
	if err := x.Query(1, func(f umbel.Filter) { f.Stats() }); !errors.Is(err, mapped.ErrPage) {
		t.Errorf("Stats: %v", err)
	}
	if err := x.Verify(); !errors.Is(err, mapped.ErrPage) {
		t.Errorf("Verify: %v", err)
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	if has, err := x.Has(ds[0]); !has || err != nil {
		t.Error(has, err)
	}
}

// A change of a filter in its file is an error, and the file stays as it is.
func TestChange(t *testing.T) {
	path, b, _ := bloomFile(t)
	x := open(t, path)
	if err := x.Query(1, func(f umbel.Filter) { f.Add(umbel.Digest{H1: 12345, H2: 678}) }); !errors.Is(err, mapped.ErrPage) {
		t.Errorf("Add: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(b) {
		t.Error("the file changed", err)
	}
	defer func() {
		if recover() != "other" {
			t.Error("a panic of the program was hidden")
		}
	}()
	_ = x.Query(1, func(umbel.Filter) { panic("other") })
}
