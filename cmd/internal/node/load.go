package node

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/umbel-filters/umbel/cmd/internal/cli/suggest"
	"go.yaml.in/yaml/v3"

	"github.com/umbel-filters/umbel/cmd/internal/service/yamltext"
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

// isIgnored reports whether a variable, without the prefix, is not a setting of a server: those of the client,
// and those that Kubernetes sets.
func isIgnored(variable, value string) bool {
	switch variable {
	case "ADDR", "CONFIG":
		return true
	}
	return strings.HasPrefix(variable, "CLIENT_") || isKubernetes(variable, value)
}

// LoadConfig returns the settings. Flags take precedence over the environment, over the file of
// --config or UMBEL_CONFIG, over defaults. fs has the flags that Flags added. An unknown setting
// is an error that contains the known names that it resembles.
func LoadConfig(flags *pflag.FlagSet) (Config, Origins, error) {
	return load(Config{}, flags, os.Environ)
}

// LoadReplicaConfig is LoadConfig for the settings of a replica. fs has the flags that ReplicaFlags added.
func LoadReplicaConfig(flags *pflag.FlagSet) (Config, Origins, error) {
	return load(Config{Replica: true}, flags, os.Environ)
}

// load sets the settings of c.
func load(c Config, flags *pflag.FlagSet, environ func() []string) (Config, Origins, error) {
	known, foreign := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	c.flags(known)
	other := Config{Replica: !c.Replica}
	other.flags(foreign)
	path, file, err := readFile(flags, environ())
	if err != nil {
		return c, nil, fmt.Errorf("settings: file %s: %w", path, err)
	}
	// From the lowest precedence to the highest: later sources replace values of earlier ones.
	values, from := map[string]any{}, map[string]string{}
	for _, source := range []struct {
		values map[string]any
		origin func(name string) string
	}{
		{file, func(name string) string { return "file " + path + ": " + name }},
		{variables(environ(), known, foreign), func(name string) string { return "environment " + variable(name) }},
		{changed(flags, known), func(name string) string { return "flag --" + name }},
	} {
		for _, name := range slices.Sorted(maps.Keys(source.values)) {
			if known.Lookup(name) == nil {
				return c, nil, fmt.Errorf("settings: %s: unknown setting; %s", source.origin(name), hint(name, known))
			}
			values[name], from[name] = source.values[name], source.origin(name)
		}
	}
	var origins Origins
	known.VisitAll(func(f *pflag.Flag) {
		o := Origin{Name: f.Name, Value: f.Value.String(), From: "default", Usage: f.Usage}
		if v, ok := values[f.Name]; ok && err == nil {
			o.From = strings.TrimSuffix(from[f.Name], ": "+f.Name)
			if o.Value, err = textOf(f.Value, v); err == nil {
				err = f.Value.Set(o.Value)
			}
			switch {
			case err != nil && f.Value.Type() == new(Publications).Type():
				err = fmt.Errorf("settings: %s: %w", from[f.Name], err) // which names the element
			case err != nil:
				err = fmt.Errorf("settings: %s: %q: %w", from[f.Name], o.Value, err)
			}
		}
		origins = append(origins, o)
	})
	return c, origins, err
}

// readFile reads the file of settings. path is "" if there is none.
func readFile(flags *pflag.FlagSet, environ []string) (path string, values map[string]any, err error) {
	for _, v := range environ {
		if value, ok := strings.CutPrefix(v, prefix+"CONFIG="); ok {
			path = value
			break
		}
	}
	if f := flags.Lookup(fileFlag); f != nil && f.Changed {
		path = f.Value.String()
	}
	if path == "" {
		return "", nil, nil
	}
	values, err = parseFile(path)
	return path, values, err
}

// parseFile parses a file of settings.
func parseFile(path string) (values map[string]any, err error) {
	data, err := os.ReadFile(path)
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return nil, pe.Err
	}
	return values, yamltext.Error(yaml.Unmarshal(data, &values))
}

// variables returns the settings of the environment by name. An environment may have settings for nodes
// with a data directory and for replicas; the foreign ones are left out.
func variables(environ []string, known, foreign *pflag.FlagSet) map[string]any {
	values := map[string]any{}
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if setting, ok := strings.CutPrefix(name, prefix); ok && setting != "" && !isIgnored(setting, value) {
			name := strings.ReplaceAll(strings.ToLower(setting), "_", "-")
			if known.Lookup(name) != nil || foreign.Lookup(name) == nil {
				values[name] = value
			}
		}
	}
	return values
}

// changed returns the settings of the command line by name.
func changed(flags, known *pflag.FlagSet) map[string]any {
	values := map[string]any{}
	flags.Visit(func(f *pflag.Flag) {
		if known.Lookup(f.Name) != nil {
			values[f.Name] = f.Value.String()
		}
	})
	return values
}

// textOf formats a value of a file for a flag's Set. Only Publications and replica.List may be lists.
func textOf(to pflag.Value, v any) (string, error) {
	if list, ok := v.([]any); ok && to.Type() == new(Publications).Type() {
		b, err := yaml.Marshal(list)
		return string(b), err
	}
	return scalar(v)
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

// hint names the setting that had a name in earlier versions, those that a wrong name resembles, or the verb that lists all.
func hint(name string, known *pflag.FlagSet) string {
	var names []string
	known.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if now := suggest.Renamed(name, names); now != "" {
		return "it is " + now + " now"
	}
	if near := suggest.Nearest(name, names); len(near) > 0 {
		return "did you mean " + strings.Join(near, " or ") + "?"
	}
	return "umbel node config lists all settings"
}
