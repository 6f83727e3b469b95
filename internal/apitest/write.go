// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package apitest

import (
	"encoding/json"
	"net/http"
	"path"
	"strconv"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
)

func (s *Server) store(at string, o Object) {
	s.version++
	meta := metadata(o)
	meta["resourceVersion"] = strconv.Itoa(s.version)
	if meta["uid"] == nil {
		meta["uid"] = "uid-" + strconv.Itoa(s.version)
	}
	s.objects[at] = o
}

func (s *Server) create(at string, o Object, dry bool) (int, Object) {
	switch path.Base(at) {
	case "selfsubjectaccessreviews":
		return http.StatusCreated, s.review(o)
	case "selfsubjectreviews":
		o["status"] = Object{"userInfo": Object{"username": "ann"}}
		return http.StatusCreated, o
	case "eviction":
		if namespace, _, _ := strings.Cut(at, "/pods/"); s.objects[namespace] != nil && metadata(s.objects[namespace])["deletionTimestamp"] != nil {
			return namespaceEnds(path.Base(namespace))
		}
		options, _ := o["deleteOptions"].(Object)
		return s.remove(path.Dir(at), options, dry)
	}
	meta := metadata(o)
	name, _ := meta["name"].(string)
	if prefix, _ := meta["generateName"].(string); name == "" {
		name = prefix + strconv.Itoa(s.version+1)
		meta["name"] = name
	}
	at = path.Join(at, name)
	if s.objects[at] != nil {
		return http.StatusConflict, withReason(status(http.StatusConflict, name), metav1.StatusReasonAlreadyExists)
	}
	if !dry {
		s.store(at, o)
	}
	return http.StatusCreated, o
}

// namespaceEnds refuses an eviction in a namespace that is being deleted, as the API server does.
func namespaceEnds(name string) (int, Object) {
	o := status(http.StatusForbidden, "unable to create new content in namespace "+name+" because it is being terminated")
	o["details"] = Object{"causes": []any{Object{"reason": string(corev1.NamespaceTerminatingCause), "message": "namespace " + name + " is being terminated", "field": "metadata.namespace"}}}
	return http.StatusForbidden, o
}

func (s *Server) review(o Object) Object {
	spec, _ := o["spec"].(Object)
	attributes, _ := spec["resourceAttributes"].(Object)
	verb, _ := attributes["verb"].(string)
	resource, _ := attributes["resource"].(string)
	o["status"] = Object{"allowed": s.Deny == nil || !s.Deny(verb, resource)}
	return o
}

func (s *Server) update(at string, o Object, kind string, dry bool) (int, Object) {
	at, isScale := strings.CutSuffix(strings.TrimSuffix(at, "/status"), "/scale")
	old := s.objects[at]
	if old == nil {
		return http.StatusNotFound, status(http.StatusNotFound, path.Base(at))
	}
	if sent, _ := metadata(o)["resourceVersion"].(string); sent != "" && sent != metadata(old)["resourceVersion"] {
		return http.StatusConflict, status(http.StatusConflict, path.Base(at))
	}
	o, err := patched(old, o, kind)
	if err != nil {
		return http.StatusUnprocessableEntity, status(http.StatusUnprocessableEntity, err.Error())
	}
	if sent := metadata(o)["uid"]; sent != nil && sent != "" && sent != metadata(old)["uid"] {
		code := http.StatusUnprocessableEntity // the field is immutable
		if !strings.Contains(kind, "patch") {
			code = http.StatusConflict
		}
		return code, status(code, path.Base(at))
	}
	metadata(o)["uid"] = metadata(old)["uid"]
	if !dry {
		s.store(at, o)
	}
	if isScale {
		return http.StatusOK, Object{"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": o["metadata"], "spec": o["spec"]}
	}
	return http.StatusOK, o
}

func (s *Server) remove(at string, options Object, dry bool) (int, Object) {
	old := s.objects[at]
	if old == nil {
		return http.StatusNotFound, status(http.StatusNotFound, path.Base(at))
	}
	conditions, _ := options["preconditions"].(Object)
	for _, field := range []string{"uid", "resourceVersion"} {
		if want := conditions[field]; want != nil && want != metadata(old)[field] {
			return http.StatusConflict, status(http.StatusConflict, path.Base(at))
		}
	}
	if !dry && options["dryRun"] == nil {
		delete(s.objects, at)
	}
	return http.StatusOK, status(http.StatusOK, "")
}

// patched returns what a write makes of an object, by the content type of the write: a patch
// of one of three kinds, or else a whole object.
func patched(old, o Object, kind string) (Object, error) {
	switch {
	case strings.Contains(kind, "strategic-merge-patch"):
		gv, _ := schema.ParseGroupVersion(old["apiVersion"].(string))      //nolint:forcetypeassert // each object has one
		typed, err := scheme.Scheme.New(gv.WithKind(old["kind"].(string))) //nolint:forcetypeassert // each object has one
		if err != nil {
			return nil, err
		}
		return strategicpatch.StrategicMergeMapPatch(clone(old), o, typed)
	case strings.Contains(kind, "merge-patch"):
		return merge(clone(old), o), nil
	case !strings.Contains(kind, "json-patch"):
		return o, nil
	}
	patch, err := jsonpatch.DecodePatch(o[jsonPatch].([]byte)) //nolint:forcetypeassert // as decode writes it
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(old)
	if err != nil {
		return nil, err
	}
	if text, err = patch.Apply(text); err != nil {
		return nil, err
	}
	var after Object
	err = json.Unmarshal(text, &after)
	return after, err
}

// merge applies a JSON merge patch (RFC 7386).
func merge(to, patch Object) Object {
	for key, value := range patch {
		below, isObject := value.(Object)
		switch old, wasObject := to[key].(Object); {
		case value == nil:
			delete(to, key)
		case isObject && wasObject:
			to[key] = merge(old, below)
		case isObject:
			to[key] = merge(Object{}, below)
		default:
			to[key] = value
		}
	}
	return to
}

func clone(o Object) Object {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // it came as JSON
	}
	var out Object
	if err := json.Unmarshal(text, &out); err != nil {
		panic(err)
	}
	return out
}

func metadata(o Object) Object {
	meta, ok := o["metadata"].(Object)
	if !ok {
		meta = Object{}
		o["metadata"] = meta
	}
	return meta
}

func status(code int, message string) Object {
	reason := map[int]metav1.StatusReason{
		http.StatusNotFound: metav1.StatusReasonNotFound, http.StatusForbidden: metav1.StatusReasonForbidden,
		http.StatusConflict: metav1.StatusReasonConflict, http.StatusUnprocessableEntity: metav1.StatusReasonInvalid, http.StatusInternalServerError: metav1.StatusReasonInternalError,
	}[code]
	result := metav1.StatusFailure
	if code < http.StatusBadRequest {
		result = metav1.StatusSuccess
	}
	return withReason(Object{"kind": "Status", "apiVersion": "v1", "status": result, "code": code, "message": message}, reason)
}

func withReason(o Object, reason metav1.StatusReason) Object {
	o["reason"] = string(reason)
	return o
}
