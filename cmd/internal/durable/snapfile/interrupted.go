package snapfile

import (
	"errors"
	"fmt"
	"io/fs"
)

// temporaryOf returns the name of a temporary file that contains a copy of a manifest, "" if there is none.
func (d *Dir) temporaryOf(g generation) string {
	for _, copy := range copies {
		b, err := d.readFile(temporary(copy))
		if n := len(b) - sumBytes; err == nil && n >= 0 && string(g.sum(b[:n])) == string(b[n:]) {
			return temporary(copy)
		}
	}
	return ""
}

// Complete restores the missing copy of an interrupted manifest.
func (d *Dir) Complete(m Manifest) error {
	if d.options.ReadOnly {
		return ErrReadOnly
	}
	g := generation{m.Number, m.Position}
	for _, copy := range copies {
		f, err := d.files.Open(g.name(copy))
		if err == nil {
			f.Close()
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = d.files.Rename(d.temporaryOf(g), g.name(copy))
		}
		if err != nil {
			return fmt.Errorf("manifest %d: %w", g.number, err)
		}
		d.addManifest(g, int64(len(m.Data)+sumBytes))
	}
	if err := d.files.Sync(); err != nil {
		return fmt.Errorf("manifest %d: %w", g.number, err)
	}
	return nil
}

// removeTemporary removes temporary files.
func (d *Dir) removeTemporary() error {
	for _, copy := range copies {
		if err := d.removeFile(temporary(copy)); err != nil {
			return err
		}
	}
	return nil
}
