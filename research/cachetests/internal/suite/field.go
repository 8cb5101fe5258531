package suite

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Field is a header field that is sent or expected. The data has five forms:
//
//	"Name"                 present with any value; only in expectations
//	["Name", "value"]      this value
//	["Name", 3600]         of dates: this number of seconds from the origin's time
//	["Name", ">", 30]      a number above 30; only in expectations
//	["Name", value, false] sent by the origin, but not compared with what the client receives
type Field struct {
	Name      string
	Any       bool   // any value
	Value     string // in the bytes of the wire, which are Latin-1
	Relative  bool   // the value is Number seconds from the origin's time
	Number    int64
	Operator  string // ">" or ""
	Unchecked bool
}

// UnmarshalJSON reads one of the forms.
func (f *Field) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		f.Any = true
		return f.setName(data)
	}
	var name, value, third json.RawMessage
	if err := array(data, &name, &value, &third); err != nil {
		return err
	}
	if err := f.setName(name); err != nil {
		return err
	}
	if value == nil {
		return fmt.Errorf("header %s: no value in %s", f.Name, data)
	}
	if value[0] != '"' {
		f.Relative = true
		if err := json.Unmarshal(value, &f.Number); err != nil {
			return fmt.Errorf("header %s: %w", f.Name, err)
		}
		if !slices.Contains(dates, strings.ToLower(f.Name)) {
			return fmt.Errorf("header %s: the number %d, but only dates are relative", f.Name, f.Number)
		}
		if f.Number < -maxSeconds || f.Number > maxSeconds {
			return fmt.Errorf("header %s: %d seconds, want at most %d", f.Name, f.Number, maxSeconds)
		}
	} else if err := f.setValue(value); err != nil {
		return err
	}
	if third == nil {
		return nil
	}
	var checked bool
	if json.Unmarshal(third, &checked) == nil {
		f.Unchecked = !checked
		return nil
	}
	f.Operator, f.Value = f.Value, ""
	return json.Unmarshal(third, &f.Number)
}

// dates are the fields whose values may be relative.
var dates = []string{"date", "expires", "last-modified", "if-modified-since", "if-unmodified-since"}

// maxSeconds is 136 years, above which a time.Duration could overflow.
const maxSeconds = 1 << 32

func (f *Field) setName(data []byte) error {
	if err := json.Unmarshal(data, &f.Name); err != nil {
		return err
	}
	if f.Name == "" || strings.ContainsFunc(f.Name, func(r rune) bool { return r <= ' ' || r == ':' || r >= 0x7f }) {
		return fmt.Errorf("%q is not a name of a header", f.Name)
	}
	return nil
}

// setValue keeps the value in Latin-1, which is what the published results were made with: some tests
// have values with a byte above 127.
func (f *Field) setValue(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	var b strings.Builder
	for _, r := range s {
		if r > 0xff || r < ' ' && r != '\t' || r == 0x7f {
			return fmt.Errorf("header %s: character %q can't be sent", f.Name, r)
		}
		b.WriteByte(byte(r))
	}
	f.Value = b.String()
	return nil
}

// Resolve returns the value of f. Dates are relative to now. If r has MagicLocations, Location and
// Content-Location are below base, the path of the request as the origin received it.
func (f *Field) Resolve(r *Request, now time.Time, base string) string {
	name := strings.ToLower(f.Name)
	switch {
	case f.Relative:
		at := now.Add(time.Duration(f.Number) * time.Second).UTC()
		if slices.Contains(r.RFC850, name) {
			return at.Format("Monday, 02-Jan-06 15:04:05 GMT")
		}
		return at.Format(http.TimeFormat)
	case r.MagicLocations && (name == "location" || name == "content-location"):
		if f.Value == "" {
			return base
		}
		return base + "/" + f.Value
	default:
		return f.Value
	}
}
