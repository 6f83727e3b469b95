// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package observetest holds Kubernetes objects in memory for tests of what
// reads them. It is no mock of a client: it can't write, and has nothing but the
// objects.
package observetest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	sigsyaml "sigs.k8s.io/yaml"
)

// Objects is a client.Reader over what it holds.
type Objects []client.Object

// Parse decodes YAML documents. Those of kinds that the scheme lacks are unstructured.
func Parse(s *runtime.Scheme, manifest []byte) (Objects, error) {
	decoder := serializer.NewCodecFactory(s, serializer.EnableStrict).UniversalDeserializer()
	docs := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(manifest)))
	var out Objects
	for {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := sigsyaml.YAMLToJSON(doc)
		if err != nil {
			return nil, fmt.Errorf("decode %q: %w", doc, err)
		}
		if string(text) == "null" {
			continue // nothing but comments
		}
		obj, _, err := decoder.Decode(text, nil, nil)
		if runtime.IsNotRegisteredError(err) {
			obj, err = runtime.Decode(unstructured.UnstructuredJSONScheme, text)
		}
		if err != nil {
			return nil, fmt.Errorf("decode %q: %w", doc, err)
		}
		o, ok := obj.(client.Object)
		if !ok {
			return nil, fmt.Errorf("%T is no object", obj)
		}
		out = append(out, o)
	}
}

// Get implements client.Reader.
func (o Objects) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	for _, have := range o {
		if reflect.TypeOf(have) == reflect.TypeOf(obj) && client.ObjectKeyFromObject(have) == key {
			reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(have.DeepCopyObject()).Elem())
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: reflect.TypeOf(obj).Elem().Name()}, key.Name)
}

// List implements client.Reader. It selects by namespace and labels, and pods also by their node.
func (o Objects) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var by client.ListOptions
	by.ApplyOptions(opts)
	items, err := meta.GetItemsPtr(list)
	if err != nil {
		return err
	}
	element := reflect.TypeOf(items).Elem().Elem()
	var found []runtime.Object
	for _, have := range o {
		if reflect.TypeOf(have).Elem() == element &&
			(by.Namespace == "" || by.Namespace == have.GetNamespace()) &&
			(by.LabelSelector == nil || by.LabelSelector.Matches(labels.Set(have.GetLabels()))) && onNode(have, by.FieldSelector) {
			found = append(found, have.DeepCopyObject())
		}
	}
	return meta.SetList(list, found)
}

// onNode reports whether an object is no pod, or one of the node that a selector asks for, if any.
func onNode(obj client.Object, by fields.Selector) bool {
	pod, is := obj.(*corev1.Pod)
	if !is || by == nil {
		return true
	}
	node, asked := by.RequiresExactMatch("spec.nodeName")
	return !asked || pod.Spec.NodeName == node
}
