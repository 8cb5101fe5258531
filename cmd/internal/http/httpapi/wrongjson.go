package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// decodeJSON decodes a JSON text that has only members that v knows.
func decodeJSON(text []byte, v any) (*json.Decoder, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d, d.Decode(v)
}

// wrongJSON finds what is wrong with JSON that is not what a request wants. The errors of package json name types of Go, and
// not all name the member. The kinds have the parameters.
type wrongJSON struct{ kinds umbel.Kinds }

// explain returns the error of a body that could not be decoded to what v points to: err if it is one of syntax.
func (w wrongJSON) explain(body []byte, v any, err error) error {
	var text json.RawMessage
	if json.NewDecoder(bytes.NewReader(body)).Decode(&text) != nil {
		return err
	}
	if wrong := w.find("", text, reflect.TypeOf(v).Elem()); wrong != nil {
		return wrong
	}
	return err
}

// anObject says that an object is wanted.
const anObject = "an object"

// find returns an error that names the member that can't be of type t, and says what is wanted there. path leads to text. It
// returns nil if text is of that type.
func (w wrongJSON) find(path string, text json.RawMessage, t reflect.Type) error {
	if _, err := decodeJSON(text, reflect.New(t).Interface()); err == nil {
		return nil
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	want := w.wanted(path, t)
	if want == anObject {
		var given map[string]json.RawMessage
		if json.Unmarshal(text, &given) == nil {
			return w.findMember(path, given, t)
		}
	}
	if path == "" {
		return fmt.Errorf("want %s", want)
	}
	return fmt.Errorf("%s: want %s", path, want)
}

// findMember is find for the members of an object.
func (w wrongJSON) findMember(path string, given map[string]json.RawMessage, t reflect.Type) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		at, of := name, t
		if t.Kind() == reflect.Map {
			quoted := strconv.Quote(api.Clip(name))
			at, of = quoted[1:len(quoted)-1], t.Elem()
		} else if at, of = member(t, name); of == nil {
			return fmt.Errorf("unknown member %.40q; want %s", join(path, name), strings.Join(slices.Sorted(maps.Keys(members(t))), ", "))
		}
		if err := w.find(join(path, at), given[name], of); err != nil {
			return err
		}
	}
	return nil
}

// members returns the types of the members of a struct.
func members(t reflect.Type) map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			all[name] = f.Type
		}
	}
	return all
}

// member returns the name and the type of a member; nil if there is none. Like package json it ignores case.
func member(t reflect.Type, name string) (string, reflect.Type) {
	for known, of := range members(t) {
		if strings.EqualFold(known, name) {
			return known, of
		}
	}
	return "", nil
}

// join returns the path of a member.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// wanted says what JSON is of type t.
func (w wrongJSON) wanted(path string, t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Time]():
		return "a time such as 2030-01-01T00:00:00Z"
	case reflect.TypeFor[expiry]():
		return "a time such as 2030-01-01T00:00:00Z, or null"
	case reflect.TypeFor[json.Number]():
		return w.parameter(path[strings.LastIndexByte(path, '.')+1:])
	}
	switch t.Kind() {
	case reflect.Float64:
		return "a number such as 0.01"
	case reflect.Uint64:
		return "a whole number from 0 to 2^64-1"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "an array of strings"
	}
	return anObject
}

// parameter says what values a parameter has. Kinds may have different ones of the same name.
func (w wrongJSON) parameter(name string) string {
	want := "a number"
	for _, k := range w.kinds {
		for _, p := range k.Params {
			switch {
			case p.Name != name:
			case p.Float:
				return "a number"
			default:
				want = "a whole number"
			}
		}
	}
	return want
}
