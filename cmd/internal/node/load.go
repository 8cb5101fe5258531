package node

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

// Origin is a setting in force: what it is, and where that was said.
type Origin struct {
	Name  string // as the flag
	Value string
	From  string // "default", "file NAME", "environment UMBEL_NAME" or "flag --NAME"
	Usage string // what the setting is for
}

// Origins are all settings, by name.
type Origins []Origin

// prefix begins the names of variables of the environment that are settings.
const prefix = "UMBEL_"

// foreign are variables that look like settings and aren't: those for the command when it asks a
// node, and those that Kubernetes sets for a service called umbel.
var foreign = regexp.MustCompile(`^UMBEL_(ADDR|CONFIG|CLIENT_.*|SERVICE_.*|PORT(_.*)?)$`)

// LoadConfig returns the settings: flags that were given, before the environment, before the
// file that --config or UMBEL_CONFIG names, before defaults. fs has the flags that Flags added.
// A setting that isn't known is an error, which names the nearest.
func LoadConfig(flags *pflag.FlagSet) (Config, Origins, error) {
	return load(flags, os.Environ)
}

func load(flags *pflag.FlagSet, environ func() []string) (Config, Origins, error) {
	var c Config
	known := pflag.NewFlagSet("", pflag.ContinueOnError)
	c.flags(known)
	from := map[string]string{}
	k := koanf.New(".")
	layer := func(p koanf.Provider, parse koanf.Parser, origin func(key string) string) error {
		one := koanf.New(".")
		if err := one.Load(p, parse); err != nil {
			return err
		}
		for _, key := range slices.Sorted(maps.Keys(one.All())) {
			if known.Lookup(key) == nil {
				return fmt.Errorf("%s: no such setting; %s is the nearest", origin(key), nearest(key, known))
			}
			from[key] = origin(key)
		}
		return k.Merge(one)
	}
	if path := filePath(flags, environ); path != "" {
		err := layer(file.Provider(path), yaml.Parser(), func(key string) string { return fmt.Sprintf("file %s: %s", path, key) })
		if err != nil {
			return c, nil, fmt.Errorf("settings: %w", clear(err, path))
		}
	}
	err := layer(env.Provider(".", env.Opt{Prefix: prefix, EnvironFunc: environ, TransformFunc: func(name, value string) (string, any) {
		if foreign.MatchString(name) {
			return "", nil
		}
		return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, prefix)), "_", "-"), value
	}}), nil, func(key string) string { return "environment " + variable(key) })
	if err != nil {
		return c, nil, fmt.Errorf("settings: %w", err)
	}
	given := map[string]any{}
	flags.Visit(func(f *pflag.Flag) {
		if known.Lookup(f.Name) != nil {
			given[f.Name] = f.Value.String()
		}
	})
	if err := layer(confmap.Provider(given, "."), nil, func(key string) string { return "flag --" + key }); err != nil {
		return c, nil, fmt.Errorf("settings: %w", err)
	}
	var origins Origins
	known.VisitAll(func(f *pflag.Flag) {
		o := Origin{Name: f.Name, Value: f.Value.String(), From: "default", Usage: f.Usage}
		if k.Exists(f.Name) && err == nil {
			o.From = strings.TrimSuffix(from[f.Name], ": "+f.Name)
			if o.Value, err = scalar(k.Get(f.Name)); err == nil {
				err = f.Value.Set(o.Value)
			}
			if err != nil {
				err = fmt.Errorf("settings: %s: %q: %w", from[f.Name], o.Value, err)
			}
		}
		origins = append(origins, o)
	})
	return c, origins, err
}

// filePath returns the file of settings, "" if there is none.
func filePath(flags *pflag.FlagSet, environ func() []string) string {
	if f := flags.Lookup(fileFlag); f != nil && f.Changed {
		return f.Value.String()
	}
	for _, v := range environ() {
		if path, ok := strings.CutPrefix(v, prefix+"CONFIG="); ok {
			return path
		}
	}
	return ""
}

// clear makes an error about a file name it.
func clear(err error, path string) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) || strings.HasPrefix(err.Error(), "file ") {
		return err
	}
	return fmt.Errorf("file %s: %w", path, err)
}

// scalar writes a value of a file as a flag would have it.
func scalar(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool, int, int64, uint64, float64:
		return fmt.Sprint(v), nil
	}
	return fmt.Sprint(v), errors.New("want one value")
}

// variable returns the environment's name of a setting.
func variable(key string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
}

// nearest returns the setting whose name takes the fewest changes of a letter to become key.
func nearest(key string, known *pflag.FlagSet) string {
	best, least := "", len(key)+100
	known.VisitAll(func(f *pflag.Flag) {
		if d := distance(key, f.Name); d < least {
			best, least = f.Name, d
		}
	})
	return best
}

// distance is the number of letters to be put in, taken out or replaced to make b of a:
// Levenshtein 1966, row by row.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
