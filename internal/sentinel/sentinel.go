// Package sentinel classifies errors for errors.Is without a word in their text. A text ends in the remedy, not in
// the name of its class, and classes that two packages give an error do not follow each other in it.
//
// Sentinels whose text states what happened, such as share.ErrNotFound, are part of the text: fmt.Errorf with %w.
package sentinel

import "fmt"

// Errorf returns an error with the text of fmt.Errorf, which wraps class and everything that fmt.Errorf wraps.
func Errorf(class error, format string, args ...any) error {
	return classified{fmt.Errorf(format, args...), class}
}

// Wrap returns an error with the text of err that wraps err and class. It returns nil if err is nil.
func Wrap(class, err error) error {
	if err == nil {
		return nil
	}
	return classified{err, class}
}

type classified struct{ err, class error }

func (e classified) Error() string   { return e.err.Error() }
func (e classified) Unwrap() []error { return []error{e.err, e.class} }
