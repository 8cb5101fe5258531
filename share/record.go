package share

import (
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// HeadName is the name of the record that contains the head of a publication.
const HeadName = "head"

// classPrefix is the beginning of the names of the records of classes.
const classPrefix = HeadName + "-"

// ClassRecord returns the name of the record with the heads of the class of a factor: HeadName for the
// whole filter, otherwise head-FACTOR.
func ClassRecord(fold uint64) string {
	if fold <= 1 {
		return HeadName
	}
	return classPrefix + strconv.FormatUint(fold, 10)
}

// IsHead reports whether name is that of a record with heads: of the whole filter or of a class. A
// carrier for subscribers needs no other records.
func IsHead(name string) bool {
	if name == HeadName {
		return true
	}
	digits, ok := strings.CutPrefix(name, classPrefix)
	fold, err := strconv.ParseUint(digits, 10, 64)
	return ok && err == nil && fold > 1 && ClassRecord(fold) == name
}

// MaxRecord is the maximum number of bytes of a record.
const MaxRecord = 16 << 10

// CheckRecord returns an error wrapping ErrCorrupt unless name can be the name of a record: that of a
// head (IsHead), or 1 to 32 lower-case letters, but not "objects", which carriers may use for the objects.
func CheckRecord(name string) error {
	if IsHead(name) {
		return nil
	}
	notLetter := func(c rune) bool { return c < 'a' || c > 'z' }
	if name == "" || len(name) > 32 || name == "objects" || strings.ContainsFunc(name, notLetter) {
		return sentinel.Errorf(ErrCorrupt, "%.40q is not the name of a record, want 1 to 32 of a-z, or head- and a number", name)
	}
	return nil
}
