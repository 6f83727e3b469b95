// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/template"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// manifests has one template per flavour. With templates instead of typed objects, the result
// can be compared line by line with the manifests of a user who runs such a cluster.
//
//go:embed manifests/*.yaml
var manifests embed.FS

// render fills the named template and returns its objects in their order.
func render(name string, data any) ([]*unstructured.Unstructured, error) {
	text, err := manifests.ReadFile("manifests/" + name)
	if err != nil {
		return nil, fmt.Errorf("manifest %s: %w", name, err)
	}
	t, err := template.New(name).Option("missingkey=error").Funcs(template.FuncMap{"json": toJSON}).Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("manifest %s: %w", name, err)
	}
	var filled bytes.Buffer
	if err := t.Execute(&filled, data); err != nil {
		return nil, fmt.Errorf("manifest %s: %w", name, err)
	}
	objects, err := parse(filled.Bytes())
	if err != nil {
		return nil, fmt.Errorf("manifest %s: %w", name, err)
	}
	return objects, nil
}

// parse reads the objects of a stream of YAML documents. It skips empty documents, which a
// template leaves when an option is off.
func parse(stream []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(stream), 4096); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// toJSON puts a value of any type into a template. JSON is valid YAML, and needs no indentation.
func toJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	return strings.TrimSpace(string(b)), err
}
