package publish

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/share"
)

// Spec is the configuration of a publication.
type Spec struct {
	Filter    string        // name of the filter and, in URLs, of the publication
	Key       string        // file of the private key, made by umbel keygen
	Directory string        // "": below Options.Directory
	Period    time.Duration // between two looks at the filter; 0: 10 seconds
	Valid     time.Duration // of a head, in whole seconds; 0: three periods, at least a minute
	Public    bool          // everybody may read the publication over HTTP
	Seed      bool          // publish a filter with a secret seed; subscribers learn the seed
	Folds     []uint64      // factors of the fold classes: share.PublisherOptions.Folds
}

const (
	defaultPeriod = 10 * time.Second
	minPeriod     = 100 * time.Millisecond
	maxPeriod     = 30 * 24 * time.Hour
	minValid      = time.Minute // if it is not set
	maxFilterName = 512         // bytes, as in other paths of HTTP
	maxFileName   = 200         // bytes, so that every file system accepts it
)

// complete returns the spec with its defaults, or what is wrong with it.
func (s Spec) complete(below string) (Spec, error) {
	if s.Period == 0 {
		s.Period = defaultPeriod
	}
	if s.Valid == 0 {
		s.Valid = max(minValid, (3*s.Period + time.Second - 1).Truncate(time.Second))
	}
	name := DirectoryName(s.Filter)
	switch {
	case s.Filter == "":
		return s, fmt.Errorf("a publication has no filter")
	case len(s.Filter) > maxFilterName:
		return s, s.errorf("the name has %d bytes, want at most %d", len(s.Filter), maxFilterName)
	case s.Key == "":
		return s, s.errorf("key is empty, want the file of a private key, made by umbel keygen")
	case s.Period < minPeriod || s.Period > maxPeriod:
		return s, s.errorf("period is %v, want %v to %v", s.Period, minPeriod, maxPeriod)
	case s.Valid < time.Second || s.Valid%time.Second != 0 || s.Valid > 100*maxPeriod:
		return s, s.errorf("valid is %v, want 1s to %v, whole seconds", s.Valid, 100*maxPeriod)
	case s.Valid < 2*s.Period:
		return s, s.errorf("valid is %v, want at least two periods (%v): subscribers would be stale between two heads", s.Valid, 2*s.Period)
	case checkFolds(s.Folds) != nil:
		return s, s.errorf("%w", checkFolds(s.Folds))
	case s.Directory == "" && len(name) > maxFileName:
		return s, s.errorf("the name is too long for a directory; set directory")
	case s.Directory == "":
		s.Directory = filepath.Join(below, name)
	}
	return s, nil
}

// checkFolds returns an error unless there can be fold classes of the factors.
func checkFolds(folds []uint64) error {
	if len(folds) > share.MaxFolds {
		return fmt.Errorf("there are %d folds, want at most %d", len(folds), share.MaxFolds)
	}
	finer := uint64(1)
	for _, r := range folds {
		if r <= finer || r%finer != 0 {
			return fmt.Errorf("folds are %d, want ascending factors, each a multiple of the one before", folds)
		}
		finer = r
	}
	return nil
}

func (s Spec) errorf(format string, args ...any) error {
	return fmt.Errorf("publication of %.80q: %w", s.Filter, fmt.Errorf(format, args...))
}

// Check returns an error if publications are invalid or contradict each other. It reads no files.
func Check(specs []Spec) error {
	filters, directories := map[string]bool{}, map[string]bool{}
	for _, s := range specs {
		s, err := s.complete("")
		switch {
		case err != nil:
			return err
		case filters[s.Filter]:
			return s.errorf("it is configured twice")
		case directories[s.Directory]:
			return s.errorf("another publication has the directory %s", s.Directory)
		}
		filters[s.Filter], directories[s.Directory] = true, true
	}
	return nil
}

// DirectoryName returns the name of a filter as the name of a directory.
func DirectoryName(filter string) string {
	name := url.PathEscape(filter)
	if strings.Trim(name, ".") == "" {
		name = strings.ReplaceAll(name, ".", "%2E")
	}
	return strings.NewReplacer(":", "%3A", "*", "%2A").Replace(name)
}
