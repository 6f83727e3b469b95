// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package podfiles

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

func TestFilesContents(t *testing.T) {
	t.Parallel()
	meta := metav1.ObjectMeta{Namespace: "shop", Name: "a"}
	files := New(observetest.Objects{
		&corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"k": []byte("secret")}},
		&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"k": "text"}, BinaryData: map[string][]byte{"b": []byte("binary")}},
	}, "shop")
	for _, row := range []struct{ kind, name, key, want, err string }{
		{kind: "Secret", name: "a", key: "k", want: "secret"},
		{kind: "ConfigMap", name: "a", key: "k", want: "text"},
		{kind: "ConfigMap", name: "a", key: "b", want: "binary"},
		{kind: "Secret", name: "b", err: "Secret shop/b does not exist"},
		{kind: "ConfigMap", name: "b", err: "ConfigMap shop/b does not exist"},
	} {
		data, err := files.Contents(t.Context())(row.kind, row.name)
		if got := string(data[row.key]); got != row.want || (err == nil) != (row.err == "") || err != nil && err.Error() != row.err {
			t.Errorf("%s %s: %q, error %v; want %q, error %s", row.kind, row.name, got, err, row.want, row.err)
		}
		if _, missing := errors.AsType[*etcdconf.MissingError](err); missing != (err != nil) {
			t.Errorf("%s %s: error %T is not a MissingError", row.kind, row.name, err)
		}
	}
}

// failing fails the first reads of an object with an error, and counts all of them.
type failing struct {
	observetest.Objects

	err   error
	fails int
	reads int
}

func (f *failing) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	f.reads++
	if f.reads <= f.fails {
		return f.err
	}
	return f.Objects.Get(ctx, key, obj, opts...)
}

// TestErrorsAreNotKept: an object is read again only if the API server has not answered about it.
func TestErrorsAreNotKept(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Resource: "configmaps"}
	there := observetest.Objects{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}}}
	for _, row := range []struct {
		name    string
		objects observetest.Objects
		err     error
		fails   int
		reads   int
		found   bool
	}{
		{"it is there", there, nil, 0, 1, true},
		{"a timeout", there, apierrors.NewServerTimeout(resource, "get", 1), 1, 2, true},
		{"a connection that broke", there, errors.New("connection reset by peer"), 2, 3, true},
		{"no permission", there, apierrors.NewForbidden(resource, "a", nil), 9, 1, false},
		{"no object", nil, nil, 0, 1, false},
	} {
		for kind, contents := range map[string]func(from client.Reader) etcdconf.Contents{
			"files":   func(from client.Reader) etcdconf.Contents { return New(from, "shop").Contents(t.Context()) },
			"scripts": func(from client.Reader) etcdconf.Contents { return NewScripts().Contents(t.Context(), from, "shop") },
		} {
			from := &failing{Objects: row.objects, err: row.err, fails: row.fails}
			read := contents(from)
			var err error
			for range 4 {
				_, err = read("ConfigMap", "a")
			}
			if (err == nil) != row.found || from.reads != row.reads {
				t.Errorf("%s, %s: %d reads, %v; want %d, found %t", row.name, kind, from.reads, err, row.reads, row.found)
			}
		}
	}
}

// TestForget: what is decided again is decided on what is there by then.
func TestForget(t *testing.T) {
	t.Parallel()
	from := &failing{Objects: observetest.Objects{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}}}}
	s := NewScripts()
	s.Miss(Unread{Namespace: "shop", Name: "main", Err: errors.New("timeout")})
	read := func() {
		if _, err := s.Contents(t.Context(), from, "shop")("ConfigMap", "a"); err != nil {
			t.Error(err)
		}
	}
	read()
	read()
	if from.reads != 1 || len(s.Unread("")) != 1 {
		t.Errorf("%d reads, unread %v", from.reads, s.Unread(""))
	}
	s.Forget()
	read()
	if from.reads != 2 || len(s.Unread("")) != 0 {
		t.Errorf("%d reads, unread %v", from.reads, s.Unread(""))
	}
	(*Scripts)(nil).Forget()
}
