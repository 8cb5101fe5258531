package publish

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/umbel-filters/umbel/cmd/internal/service/budget"
)

// rooms counts the bytes of directories of publications in a budget, those that no publication uses any more
// included. Directories outside of within have no limit. It is safe for concurrent use.
type rooms struct {
	disk   *budget.Budget
	within string

	mu    sync.Mutex
	files map[string]*budget.Files // by directory
}

// newRooms returns rooms that have counted the directories below one.
func newRooms(disk *budget.Budget, within, below string) *rooms {
	r := &rooms{disk: disk, within: within, files: map[string]*budget.Files{}}
	list, _ := os.ReadDir(below) // it may not exist
	for _, e := range list {
		if dir := filepath.Join(below, e.Name()); e.IsDir() {
			r.of(dir).Set(diskBytes(dir))
		}
	}
	return r
}

// of returns what counts the files of a directory.
func (r *rooms) of(dir string) *budget.Files {
	dir = filepath.Clean(dir)
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.files[dir]
	if f == nil {
		f = r.limit(dir).Files()
		r.files[dir] = f
	}
	return f
}

// limit returns the budget of a directory, nil if it is not within the directory that has one.
func (r *rooms) limit(dir string) *budget.Budget {
	outer, err := filepath.Abs(r.within)
	inner, err2 := filepath.Abs(dir)
	if err != nil || err2 != nil || !strings.HasPrefix(inner, outer+string(filepath.Separator)) {
		return nil
	}
	return r.disk
}

// diskBytes returns the size of all files in a directory. Those that vanish meanwhile don't count.
func diskBytes(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	return n
}
