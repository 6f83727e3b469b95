// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
)

// TestTransient: only what the next read may find makes connections be made again.
func TestTransient(t *testing.T) {
	t.Parallel()
	read := func(err error) error {
		return fmt.Errorf("pod a/b: %w", &podfiles.ReadError{Kind: "ConfigMap", Namespace: "a", Name: "c", Err: err})
	}
	for _, row := range []struct {
		name string
		e    Endpoint
		want bool
	}{
		{"no error", Endpoint{}, false},
		{"a timeout", Endpoint{Err: read(errors.New("timeout"))}, true},
		{"a timeout for metrics", Endpoint{MetricsErr: read(errors.New("timeout"))}, true},
		{"a timeout for the password", Endpoint{PasswordErr: read(errors.New("timeout"))}, true},
		{"no permission", Endpoint{Err: read(apierrors.NewForbidden(schema.GroupResource{}, "c", nil))}, false},
		{"no object", Endpoint{Err: &etcdconf.MissingError{Kind: "ConfigMap"}}, false},
		{"a URL that can't be read", Endpoint{Err: errors.New("no usable URL")}, false},
	} {
		if got := Transient([]Endpoint{{}, row.e}); got != row.want {
			t.Errorf("%s: %t, want %t", row.name, got, row.want)
		}
	}
}
