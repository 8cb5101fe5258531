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

// Origin is the value of a setting and its origin.
type Origin struct {
	Name  string // of the flag
	Value string
	From  string // "default", "file NAME", "environment UMBEL_NAME" or "flag --NAME"
	Usage string // help text
}

// Origins are all settings, by name.
type Origins []Origin

// prefix is the prefix of environment variables with settings.
const prefix = "UMBEL_"

// ignored are variables with this prefix that are not settings of a server: those of the client,
// and those that Kubernetes sets for a service with the name umbel.
var ignored = regexp.MustCompile(`^UMBEL_(ADDR|CONFIG|CLIENT_.*|SERVICE_.*|PORT(_.*)?)$`)

// LoadConfig returns the settings. Flags take precedence over the environment, over the file of
// --config or UMBEL_CONFIG, over defaults. fs has the flags that Flags added. An unknown setting
// is an error that contains the nearest known name.
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
				return fmt.Errorf("%s: unknown setting; did you mean %s?", origin(key), nearest(key, known))
			}
			from[key] = origin(key)
		}
		return k.Merge(one)
	}
	if path := filePath(flags, environ); path != "" {
		err := layer(file.Provider(path), yaml.Parser(), func(key string) string { return fmt.Sprintf("file %s: %s", path, key) })
		if err != nil {
			return c, nil, fmt.Errorf("settings: %w", fileError(err, path))
		}
	}
	err := layer(env.Provider(".", env.Opt{Prefix: prefix, EnvironFunc: environ, TransformFunc: func(name, value string) (string, any) {
		if ignored.MatchString(name) {
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

// filePath returns the path of the file of settings, "" if there is none.
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

// fileError adds the path to an error about a file.
func fileError(err error, path string) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) || strings.HasPrefix(err.Error(), "file ") {
		return err
	}
	return fmt.Errorf("file %s: %w", path, err)
}

// scalar formats a value of a file like a flag's value.
func scalar(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool, int, int64, uint64, float64:
		return fmt.Sprint(v), nil
	}
	return fmt.Sprint(v), errors.New("want a single value")
}

// variable returns the name of a setting's environment variable.
func variable(key string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
}

// nearest returns the setting whose name has the smallest edit distance to key.
func nearest(key string, known *pflag.FlagSet) string {
	best, least := "", len(key)+100
	known.VisitAll(func(f *pflag.Flag) {
		if d := distance(key, f.Name); d < least {
			best, least = f.Name, d
		}
	})
	return best
}

// distance returns the edit distance of a and b: Levenshtein 1966, row by row.
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
