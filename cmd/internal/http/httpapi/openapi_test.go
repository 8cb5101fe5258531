//go:build !noopenapi

package httpapi

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pb33f/go-yaml"
	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/errors"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// documented reads the document, once.
var documented = sync.OnceValues(func() (validator.Validator, libopenapi.Document) {
	doc, err := libopenapi.NewDocument(openAPIDocument)
	if err != nil {
		panic(err)
	}
	v, errs := validator.NewValidator(doc)
	if len(errs) > 0 {
		panic(errs[0])
	}
	return v, doc
})

func init() { checkExchange = checkDocumented }

// checkDocumented fails the test unless an exchange is as the document says.
func checkDocumented(t *testing.T, r *http.Request, answer *http.Response) {
	t.Helper()
	v, _ := documented()
	if answer.StatusCode == http.StatusNotFound || answer.StatusCode == http.StatusMethodNotAllowed || r.Method == http.MethodHead || strings.HasPrefix(r.URL.Path, "/debug/") {
		return // the document has paths and methods that are there; HEAD is GET without a body
	}
	if r.Header.Get("Content-Type") == api.MediaLines {
		return // OpenAPI 3.1 has no words for more than one value
	}
	if answer.StatusCode < 400 {
		if ok, errs := v.ValidateHttpRequest(r); !ok && !onlySecurity(errs) {
			t.Errorf("%s %s isn't as documented: %v", r.Method, r.URL.Path, errs)
		}
	}
	if ok, errs := v.ValidateHttpResponse(r, answer); !ok {
		b, _ := io.ReadAll(answer.Body)
		t.Errorf("the answer to %s %s isn't as documented: %v\n%s", r.Method, r.URL.Path, errs, b)
	}
}

func onlySecurity(errs []*errors.ValidationError) bool {
	return !slices.ContainsFunc(errs, func(e *errors.ValidationError) bool { return e.ValidationType != "security" })
}

func TestDocument(t *testing.T) {
	v, _ := documented()
	if ok, errs := v.ValidateDocument(); !ok {
		for _, e := range errs {
			t.Error(e)
		}
	}
	n := serve(t, Options{})
	if r := n.want(n.ask("GET", "/openapi.json", ""), 200); !bytes.Equal([]byte(r.body), openAPIDocument) {
		t.Error("what is served isn't the document")
	}
}

// Each route is in the document, and nothing else is.
func TestDocumentHasTheRoutes(t *testing.T) {
	_, doc := documented()
	model, err := doc.BuildV3Model()
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{}
	for path, item := range model.Model.Paths.PathItems.FromOldest() {
		for method := range item.GetOperations().FromOldest() {
			said[strings.ToUpper(method)+" "+path] = true
		}
	}
	served := map[string]bool{}
	for _, r := range (&handler{}).routes() {
		served[strings.TrimSuffix(r.pattern, "{$}")] = true
	}
	for _, pattern := range slices.Sorted(maps.Keys(served)) {
		if !said[pattern] {
			t.Errorf("%s is served and not documented", pattern)
		}
	}
	for _, pattern := range slices.Sorted(maps.Keys(said)) {
		if !served[pattern] {
			t.Errorf("%s is documented and not served", pattern)
		}
	}
}

// The examples in the document have the schemas next to them.
func TestDocumentExamples(t *testing.T) {
	v, doc := documented()
	model, err := doc.BuildV3Model()
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for path, item := range model.Model.Paths.PathItems.FromOldest() {
		path = strings.ReplaceAll(path, "{name}", "words")
		for method, op := range item.GetOperations().FromOldest() {
			method = strings.ToUpper(method)
			if op.RequestBody != nil {
				for media, content := range op.RequestBody.Content.FromOldest() {
					if content.Example == nil || !strings.Contains(media, "json") || media == api.MediaLines {
						continue
					}
					r := newRequest(t, method, path, media, jsonOf(t, content.Example))
					if ok, errs := v.ValidateHttpRequest(r); !ok && !onlySecurity(errs) {
						t.Errorf("%s %s: the example of a request isn't of its schema: %v", method, path, errs)
					}
					tried++
				}
			}
			for code, response := range op.Responses.Codes.FromOldest() {
				for media, content := range response.Content.FromOldest() {
					if content.Example == nil || !strings.Contains(media, "json") || media == api.MediaLines {
						continue
					}
					r := newRequest(t, method, path, "", nil)
					answer := &http.Response{StatusCode: statusOf(code), Header: http.Header{"Content-Type": {media}}, Body: io.NopCloser(bytes.NewReader(jsonOf(t, content.Example)))}
					if ok, errs := v.ValidateHttpResponse(r, answer); !ok {
						t.Errorf("%s %s: the example of an answer isn't of its schema: %v", method, path, errs)
					}
					tried++
				}
			}
		}
	}
	if tried < 35 {
		t.Errorf("%d examples were tried, want 35 or more", tried)
	}
}

func newRequest(t *testing.T, method, path, media string, body []byte) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://localhost"+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if media != "" {
		r.Header.Set("Content-Type", media)
	}
	return r
}

// jsonOf returns an example as JSON.
func jsonOf(t *testing.T, example *yaml.Node) []byte {
	t.Helper()
	var v any
	if err := example.Decode(&v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// statusOf returns the status of a response in the document.
func statusOf(code string) int {
	n, _ := strconv.Atoi(code) // codes of the document are numbers
	return n
}
