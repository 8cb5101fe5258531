package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/publish"
	"github.com/umbel-filters/umbel/cmd/internal/service/yamltext"
	"go.yaml.in/yaml/v3"
)

// Publications are the filters that a node publishes: a list in the file of settings, and YAML or JSON in
// a flag or a variable.
type Publications []publish.Spec

// publication is an element of the list.
type publication struct {
	Filter    string   `yaml:"filter" json:"filter"`
	Key       string   `yaml:"key" json:"key"`
	Directory string   `yaml:"directory" json:"directory,omitempty"`
	Period    string   `yaml:"period" json:"period,omitempty"`
	Valid     string   `yaml:"valid" json:"valid,omitempty"`
	Public    bool     `yaml:"public" json:"public"`
	Seed      bool     `yaml:"publish-seed" json:"publish-seed,omitempty"`
	Folds     []uint64 `yaml:"folds" json:"folds,omitempty"`
}

// parseDuration parses a time such as 10s or 1d; "" is 0, which means the default.
func parseDuration(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	return quantity.ParseDuration(text)
}

// durationSetting is the inverse of parseDuration.
func durationSetting(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// Set parses a list.
func (ps *Publications) Set(text string) error {
	d := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	d.KnownFields(true)
	var list []publication
	if err := d.Decode(&list); err != nil && err != io.EOF {
		return fmt.Errorf("want a list such as [{filter: words, key: words.key, period: 10s, public: true}]: %w", yamltext.Error(err))
	}
	var specs []publish.Spec
	for _, p := range list {
		period, err := parseDuration(p.Period)
		if err != nil {
			return fmt.Errorf("publication of %.80q: period: %w", p.Filter, err)
		}
		valid, err := parseDuration(p.Valid)
		if err != nil {
			return fmt.Errorf("publication of %.80q: valid: %w", p.Filter, err)
		}
		specs = append(specs, publish.Spec{
			Filter: p.Filter, Key: p.Key, Directory: p.Directory, Period: period, Valid: valid, Public: p.Public, Seed: p.Seed, Folds: p.Folds,
		})
	}
	if err := publish.Check(specs); err != nil {
		return err
	}
	*ps = specs
	return nil
}

// String returns text that Set parses, "" for an empty list.
func (ps *Publications) String() string {
	if ps == nil || len(*ps) == 0 {
		return ""
	}
	var list []publication
	for _, s := range *ps {
		list = append(list, publication{s.Filter, s.Key, s.Directory, durationSetting(s.Period), durationSetting(s.Valid), s.Public, s.Seed, s.Folds})
	}
	b, err := json.Marshal(list)
	if err != nil {
		panic(err) // strings and booleans can always be marshalled
	}
	return string(b)
}

// Type names the flag's value in help texts.
func (ps *Publications) Type() string { return "list" }

// publicationsDir returns the directory of the publications that have none of their own.
func publicationsDir(data string) string { return filepath.Join(data, "publications") }

// publishNow publishes a filter, and returns its version or when the node ends.
func (n *Node) publishNow(filter string) (version uint64, err error) {
	return n.publications.Publish(n.working, filter)
}

// publish starts the publications. They end with the tasks of the node.
func (n *Node) publish() error {
	n.limitFiles()
	n.publications = publish.New(publish.Options{
		Engine: n.engine, Wait: n.store.Wait, Directory: publicationsDir(n.config.Data),
		Disk: n.shared, Within: n.config.Data, Log: n.log.With("part", "publish"),
	})
	n.tasks.Go(func() {
		<-n.working.Done()
		n.publications.Close()
	})
	return n.applyPublications(n.config.Publications)
}

// applyPublications makes the publications of the node those of a list. A member of a group begins to publish when it leads.
func (n *Node) applyPublications(list Publications) error {
	if n.member != nil && !n.member.Leads() {
		return publish.Check(list)
	}
	return n.publications.Apply(list)
}
