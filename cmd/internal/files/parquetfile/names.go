package parquetfile

import (
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// names are the names of columns, by which the callers of this package choose one. The name of a column is its path.
// If several columns have it, as a column "a.b" and the column "b" of a group "a", the name is "@" and the index.
type names struct {
	columns []column
	index   map[string]int // by path; -1 if several columns have it
}

func newNames(columns []column) names {
	n := names{columns, make(map[string]int, len(columns))}
	for i, c := range columns {
		path := c.path()
		if _, ok := n.index[path]; ok {
			i = -1
		}
		n.index[path] = i
	}
	return n
}

// of returns the name of a column.
func (n names) of(i int) string {
	path := n.columns[i].path()
	if n.index[path] == i {
		return path
	}
	digits := strconv.Itoa(i)
	for _, taken := n.index["@"+digits]; taken; _, taken = n.index["@"+digits] {
		digits = "0" + digits
	}
	return "@" + digits
}

// find returns the index of the column with that name. Any column may be named by its index. Errors wrap errColumn.
func (n names) find(name string) (int, error) {
	i, ok := n.index[name]
	switch {
	case ok && i >= 0:
		return i, nil
	case ok:
		same := n.list(func(c column) bool { return c.path() == name })
		return 0, sentinel.Errorf(errColumn, "several columns have the path %q; name one by its index: %s", clip(name), same)
	case len(n.columns) == 0:
		return 0, sentinel.Errorf(errColumn, "column %q in a file without columns", clip(name))
	}
	digits, ok := strings.CutPrefix(name, "@")
	if i, err := strconv.Atoi(digits); ok && err == nil && i >= 0 && i < len(n.columns) {
		return i, nil
	}
	return 0, sentinel.Errorf(errColumn, "column %q, want one of %s", clip(name), n.list(func(column) bool { return true }))
}

// list lists the names of the first of some columns for an error.
func (n names) list(some func(column) bool) string {
	const most = 40
	var list []string
	for i, c := range n.columns {
		if !some(c) {
			continue
		}
		if len(list) == most {
			list = append(list, "…")
			break
		}
		list = append(list, clip(n.of(i)))
	}
	return strings.Join(list, ", ")
}

// clip shortens untrusted text for an error.
func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "…"
	}
	return s
}
