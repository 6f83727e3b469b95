// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package podfiles

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
